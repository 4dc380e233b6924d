/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The reply is a list of blocks. A block has parts and the bytes that were
 * copied into it. The last block stays when all is sent, for the next reply.
 *
 * A block is freed when its own parts are sent. So a part may name copied bytes
 * of its own block only. It has no pointer to them, but their place in this
 * block. room() chooses the block, once for each thing that is added. The part
 * and the bytes are taken from that block. */

#include "store/protocol/reply.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SMALL       1024 /* bytes of a value that are copied */
#define BLOCK_PARTS 96
#define SEND_PARTS  128

/* Bytes, and at most one call more, of one call of store_reply_send(). */
#define TURN        (256u << 10)

/* With more than that, it is full. */
#define PENDING_MAX (1u << 20) /* bytes */
#define BLOCKS_MAX  3

/* Copied bytes of its block, or the value of an item. */
typedef struct {
    store_space_t *space;
    store_item_t *item; /* NULL: copied bytes */
    size_t at;          /* of the copied bytes in the block */
    size_t n;
    size_t offset;       /* bytes that are sent */
    store_place_t place; /* in the value: of `offset`, or before it */
} part_t;

typedef struct block {
    struct block *next;
    unsigned first; /* parts before it are sent */
    unsigned n;     /* parts */
    size_t used;    /* copied bytes */
    part_t part[BLOCK_PARTS];
    char bytes[STORE_REPLY_BLOCK];
} block_t;

struct store_reply {
    block_t *head, *tail;
    unsigned blocks;
    size_t added; /* since the beginning */
    size_t sent;
    int failed;
};

store_reply_t *store_reply_make(void)
{
    return calloc(1, sizeof(store_reply_t));
}

static void part_end(part_t *part)
{
    if (part->item)
        store_item_release(part->space, part->item);
    part->item = NULL;
}

static void block_free(block_t *block)
{
    unsigned i;

    for (i = block->first; i < block->n; i++)
        part_end(&block->part[i]);
    free(block);
}

void store_reply_free(store_reply_t *reply)
{
    while (reply->head) {
        block_t *next = reply->head->next;

        block_free(reply->head);
        reply->head = next;
    }
    free(reply);
}

/* The last block, which has room for a part and for a byte.
 * @return NULL: failed */
static block_t *room(store_reply_t *reply)
{
    block_t *block = reply->tail;

    if (reply->failed)
        return NULL;
    if (block && block->n < BLOCK_PARTS && block->used < STORE_REPLY_BLOCK)
        return block;
    block = malloc(sizeof *block);
    if (!block) {
        reply->failed = 1;
        return NULL;
    }
    block->next = NULL;
    block->first = block->n = 0;
    block->used = 0;
    if (reply->tail)
        reply->tail->next = block;
    else
        reply->head = block;
    reply->tail = block;
    reply->blocks++;
    return block;
}

/* The block has room for it. */
static part_t *part_add(block_t *block, size_t n)
{
    part_t *part = &block->part[block->n++];

    memset(part, 0, sizeof *part);
    part->n = n;
    return part;
}

/* The last part, if its bytes end at this place of the block. Else a new one
 * that begins there. */
static part_t *part_at(block_t *block, size_t at)
{
    part_t *last = block->n > block->first ? &block->part[block->n - 1] : NULL;

    if (last && !last->item && last->at + last->n == at)
        return last;
    last = part_add(block, 0);
    last->at = at;
    return last;
}

/* Room for up to n bytes, behind those that were copied before. They are part
 * of the reply. @param n how many there are */
static char *take(store_reply_t *reply, size_t *n)
{
    block_t *block = room(reply);
    size_t at;

    if (!block)
        return NULL;
    at = block->used;
    if (*n > STORE_REPLY_BLOCK - at)
        *n = STORE_REPLY_BLOCK - at;
    part_at(block, at)->n += *n;
    block->used += *n;
    reply->added += *n;
    return block->bytes + at;
}

void store_reply_copy(store_reply_t *reply, const void *bytes, size_t n)
{
    const char *from = bytes;

    while (n > 0) {
        size_t now = n;
        char *to = take(reply, &now);

        if (!to)
            return;
        memcpy(to, from, now);
        from += now;
        n -= now;
    }
}

static void copy_value(store_reply_t *reply, const store_space_t *space,
                       const store_item_t *item)
{
    size_t at, now;

    for (at = 0; at < item->length; at += now) {
        char *to;

        now = item->length - at;
        to = take(reply, &now);
        if (!to)
            return;
        store_item_read(space, item, (uint32_t)at, to, (uint32_t)now);
    }
}

void store_reply_value(store_reply_t *reply, store_space_t *space,
                       store_item_t *item)
{
    block_t *block;
    part_t *part;

    if (item->length <= SMALL) {
        copy_value(reply, space, item);
        return;
    }
    block = room(reply);
    if (!block)
        return;
    part = part_add(block, item->length);
    part->space = space;
    part->item = item;
    store_item_keep(item);
    reply->added += item->length;
}

void store_reply_format(store_reply_t *reply, const char *format, ...)
{
    char line[512];
    va_list list;
    int n;

    va_start(list, format);
    n = vsnprintf(line, sizeof line, format, list);
    va_end(list);
    if (n > 0)
        store_reply_copy(reply, line,
                         (size_t)n < sizeof line ? (size_t)n : sizeof line - 1);
}

size_t store_reply_pending(const store_reply_t *reply)
{
    return reply->added - reply->sent;
}

int store_reply_is_full(const store_reply_t *reply)
{
    return store_reply_pending(reply) > PENDING_MAX ||
           reply->blocks > BLOCKS_MAX;
}

int store_reply_failed(const store_reply_t *reply)
{
    return reply->failed;
}

/* Fill in iovecs for what comes next. @return how many */
static unsigned gather(const store_reply_t *reply, struct iovec *iov)
{
    unsigned n = 0, i;
    block_t *block;
    size_t at;

    for (block = reply->head; block; block = block->next) {
        for (i = block->first; i < block->n; i++) {
            part_t *part = &block->part[i];
            const char *copied = block->bytes + part->at;
            store_place_t place = part->place;

            for (at = part->offset; at < part->n;) {
                uint32_t run = (uint32_t)(part->n - at);
                const char *bytes;

                if (n == SEND_PARTS)
                    return n;
                bytes = part->item
                            ? store_item_next_bytes(part->space, part->item,
                                                    (uint32_t)at, &run, &place)
                            : copied + at;
                if (at == part->offset)
                    part->place = place;
                iov[n].iov_base = (void *)(uintptr_t)bytes;
                iov[n++].iov_len = run;
                at += run;
            }
        }
    }
    return n;
}

/* These bytes are sent. */
static void advance(store_reply_t *reply, size_t n)
{
    reply->sent += n;
    while (reply->head) {
        block_t *block = reply->head;

        for (; block->first < block->n; block->first++) {
            part_t *part = &block->part[block->first];

            if (n < part->n - part->offset) {
                part->offset += n;
                return;
            }
            n -= part->n - part->offset;
            part_end(part);
        }
        if (block == reply->tail) {
            block->first = block->n = 0;
            block->used = 0;
            return;
        }
        reply->head = block->next;
        reply->blocks--;
        block_free(block);
    }
}

/* The socket takes no more. The rest of a value that is small now is copied, so
 * that a slow client does not keep the memory of the item. */
static void settle(block_t *block)
{
    part_t *part = &block->part[block->first];
    size_t rest = part->n - part->offset;

    if (!part->item || rest > SMALL || rest > STORE_REPLY_BLOCK - block->used)
        return;
    store_item_read(part->space, part->item, (uint32_t)part->offset,
                    block->bytes + block->used, (uint32_t)rest);
    part_end(part);
    part->at = block->used;
    part->offset = 0;
    part->n = rest;
    block->used += rest;
}

int store_reply_send(store_reply_t *reply, store_reply_writer_t *write,
                     void *to, size_t *sent)
{
    *sent = 0;
    while (store_reply_pending(reply) > 0) {
        struct iovec iov[SEND_PARTS];
        ssize_t n = write(to, iov, gather(reply, iov));

        if (n < 0 && errno != EAGAIN)
            return errno;
        if (n < 0) {
            settle(reply->head);
            return EAGAIN;
        }
        *sent += (size_t)n;
        advance(reply, (size_t)n);
        if (*sent >= TURN && store_reply_pending(reply) > 0)
            return EINPROGRESS;
    }
    return 0;
}
