/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The reply is a list of blocks. A block has parts and the bytes that were
 * copied into it. The last block stays when all is sent, for the next reply. */

#include "store/command/reply.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#define SMALL       1024 /* bytes of a value that are copied */
#define BLOCK_PARTS 96
#define BLOCK_BYTES 13800
#define SEND_PARTS  128

/* Bytes, and at most one sendmsg() more, of one call of store_reply_send(). */
#define TURN        (256u << 10)

/* With more than that, it is full. */
#define PENDING_MAX (1u << 20) /* bytes */
#define BLOCKS_MAX  8

/* Bytes in memory, or the value of an item from `offset` on. */
typedef struct {
    const char *bytes; /* NULL: of the item */
    store_space_t *space;
    store_item_t *item;
    size_t offset;
    size_t n;
    store_place_t place; /* of `offset`, or before it */
} part_t;

typedef struct block {
    struct block *next;
    unsigned first; /* parts before it are sent */
    unsigned n;     /* parts */
    size_t used;    /* bytes */
    part_t part[BLOCK_PARTS];
    char bytes[BLOCK_BYTES];
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
    for (unsigned i = block->first; i < block->n; i++)
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

/* The block that has room for a part. @return NULL: failed */
static block_t *room(store_reply_t *reply)
{
    block_t *block = reply->tail;

    if (reply->failed)
        return NULL;
    if (block && block->n < BLOCK_PARTS && block->used < BLOCK_BYTES)
        return block;
    block = malloc(sizeof *block);
    if (block == NULL) {
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

static part_t *part_add(store_reply_t *reply, size_t n)
{
    block_t *block = room(reply);
    part_t *part;

    if (block == NULL)
        return NULL;
    part = &block->part[block->n++];
    memset(part, 0, sizeof *part);
    part->n = n;
    reply->added += n;
    return part;
}

/* Room for up to n bytes, behind those that were copied before. They are part
 * of the reply. @param n how many there are */
static char *take(store_reply_t *reply, size_t *n)
{
    block_t *block = room(reply);
    part_t *last;
    char *at;

    if (block == NULL)
        return NULL;
    at = block->bytes + block->used;
    if (*n > BLOCK_BYTES - block->used)
        *n = BLOCK_BYTES - block->used;
    last = block->n > block->first ? &block->part[block->n - 1] : NULL;
    block->used += *n;
    if (last && last->bytes && last->bytes + last->n == at) {
        last->n += *n;
        reply->added += *n;
        return at;
    }
    last = part_add(reply, *n);
    last->bytes = at;
    return at;
}

void store_reply_copy(store_reply_t *reply, const void *bytes, size_t n)
{
    const char *from = bytes;

    while (n > 0) {
        size_t now = n;
        char *to = take(reply, &now);

        if (to == NULL)
            return;
        memcpy(to, from, now);
        from += now;
        n -= now;
    }
}

void store_reply_value(store_reply_t *reply, store_space_t *space,
                       store_item_t *item)
{
    part_t *part;

    if (item->length <= SMALL) {
        for (size_t at = 0, now; at < item->length; at += now) {
            char *to;

            now = item->length - at;
            to = take(reply, &now);
            if (to == NULL)
                return;
            store_item_read(space, item, (uint32_t)at, to, (uint32_t)now);
        }
    }
    else {
        part = part_add(reply, item->length);
        if (part) {
            store_item_keep(item);
            part->space = space;
            part->item = item;
        }
    }
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
static int gather(const store_reply_t *reply, struct iovec *iov)
{
    int n = 0;

    for (block_t *block = reply->head; block; block = block->next) {
        for (unsigned i = block->first; i < block->n; i++) {
            part_t *part = &block->part[i];
            store_place_t place = part->place;

            for (size_t at = part->offset; at < part->n;) {
                uint32_t run = (uint32_t)(part->n - at);
                const char *bytes;

                if (n == SEND_PARTS)
                    return n;
                bytes = part->item
                            ? store_item_next_bytes(part->space, part->item,
                                                    (uint32_t)at, &run, &place)
                            : part->bytes + at;
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
static void settle(store_reply_t *reply)
{
    part_t *part = &reply->head->part[reply->head->first];
    size_t rest = part->n - part->offset;
    char *copy;

    if (part->item == NULL || rest > SMALL ||
        rest > BLOCK_BYTES - reply->head->used)
        return;
    copy = reply->head->bytes + reply->head->used;
    reply->head->used += rest;
    store_item_read(part->space, part->item, (uint32_t)part->offset, copy,
                    (uint32_t)rest);
    part_end(part);
    part->bytes = copy;
    part->offset = 0;
    part->n = rest;
}

int store_reply_send(store_reply_t *reply, int fd, size_t *sent)
{
    *sent = 0;
    while (store_reply_pending(reply) > 0) {
        struct iovec iov[SEND_PARTS];
        struct msghdr message = {.msg_iov = iov};
        ssize_t n;

        message.msg_iovlen = (size_t)gather(reply, iov);
        do
            n = sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
        while (n < 0 && errno == EINTR);
        if (n < 0 && errno != EAGAIN)
            return errno;
        if (n < 0) {
            settle(reply);
            return EAGAIN;
        }
        *sent += (size_t)n;
        advance(reply, (size_t)n);
        if (*sent >= TURN && store_reply_pending(reply) > 0)
            return EINPROGRESS;
    }
    return 0;
}
