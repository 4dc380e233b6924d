/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/server/snapshot_load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "store/clock.h"
#include "store/memory/index.h"

#define FULL   (4 << 20)           /* bytes that are read at once */
#define SECOND INT64_C(1000000000) /* ns */

typedef struct {
    int fd;
    char *bytes;
    size_t at, end, room;
    int is_skipping; /* no record was found since the last one */
    store_space_t *space;
    store_snapshot_t *result;
} reader_t;

/* Have that many bytes together. @return 0: the file has no more; -1: errno */
static int have(reader_t *r, size_t size)
{
    if (r->end - r->at >= size)
        return 1;
    if (r->at > 0)
        memmove(r->bytes, r->bytes + r->at, r->end - r->at);
    r->end -= r->at;
    r->at = 0;
    if (size > r->room) {
        char *more = realloc(r->bytes, size + FULL);

        if (!more)
            return -1;
        r->bytes = more;
        r->room = size + FULL;
    }
    while (r->end < size) {
        ssize_t n = read(r->fd, r->bytes + r->end, r->room - r->end);

        if (n == 0)
            return 0;
        if (n < 0 && errno != EINTR)
            return -1;
        if (n > 0)
            r->end += (size_t)n;
    }
    return 1;
}

/* s on the store's clock; 0: never. What is over is due at once. */
static uint32_t on_clock(int64_t host)
{
    int64_t left = host - time(NULL);
    uint32_t now = store_clock();

    if (host == 0 || left <= 0)
        return host == 0 ? 0 : now;
    return left > UINT32_MAX - now ? UINT32_MAX : now + (uint32_t)left;
}

static void load_space(reader_t *r, const store_record_t *head,
                       const char *name,
                       store_space_t *(*find)(const char *name))
{
    char copy[STORE_NAME] = "";
    uint64_t cas = (uint64_t)head->exptime;

    memcpy(copy, name, head->klen);
    r->space = find(copy);
    if (!r->space)
        return;
    /* A cas is not given twice, so that an old one changes nothing. */
    store_space_raise_cas(r->space, cas);
    if (head->flags != 0)
        store_space_flush_at(r->space, on_clock(head->flags));
}

static void load_item(reader_t *r, const store_record_t *head, const char *key)
{
    uint32_t exptime = on_clock(head->exptime), now = store_clock(),
             age = store_record_age_s(head->age);
    store_bucket_t bucket;
    store_item_t *item;

    if (exptime != 0 && exptime <= now) {
        r->result->expired++;
        return;
    }
    item = r->space && head->length <= store_item_max
               ? store_item_make(r->space, key, head->klen, head->flags,
                                 exptime, head->length)
               : NULL;
    if (!item) {
        r->result->dropped++;
        return;
    }
    if (head->length > 0)
        store_item_write(r->space, item, 0, key + head->klen, head->length);
    STORE_SET(item->used, age < now ? now - age : 1);
    store_index_lock(&bucket, r->space, key, head->klen);
    /* A load that was killed has put it. */
    if (!store_index_find(&bucket, NULL))
        store_index_put_copy(&bucket, item, NULL, 0,
                             head->bits & STORE_RECORD_BITS);
    store_index_unlock(&bucket);
    store_item_release(r->space, item);
    r->result->items++;
}

/* A check is no signature, so the numbers are looked at. */
static void load_history(reader_t *r, const char *body)
{
    store_history_t *h = &r->result->history;

    memcpy(h, body, sizeof *h);
    if (h->n > STORE_EPOCHS)
        memset(h, 0, sizeof *h);
}

/* @return 1: the record at the beginning of the bytes is sound; 0: it is not;
 * -1: errno */
static int is_record(reader_t *r, store_record_t *head)
{
    int rv;

    memcpy(head, r->bytes + r->at, sizeof *head);
    if (!store_record_is_header(head, &r->result->file))
        return 0;
    rv = have(r, store_record_size(head));
    if (rv <= 0)
        return rv;
    return store_record_check((const store_record_t *)(r->bytes + r->at),
                              &r->result->file) == head->check;
}

/* To what looks like a header; or to the last bytes, which may be a part of
 * one. */
static void skip(reader_t *r)
{
    const uint32_t magic = STORE_RECORD_MAGIC;
    const char *from = r->bytes + r->at + 1,
               *found = memmem(from, r->end - r->at - 1, &magic, sizeof magic);

    r->result->damaged += !r->is_skipping;
    r->is_skipping = 1;
    r->at = found ? (size_t)(found - r->bytes) : r->end - (sizeof magic - 1);
}

/* @return 1: go on; 0: this was the end; -1: errno */
static int load_one(reader_t *r, store_space_t *(*find)(const char *name))
{
    store_record_t head;
    const char *body;
    int rv = is_record(r, &head);

    if (rv < 0)
        return -1;
    if (rv == 0) {
        skip(r);
        return 1;
    }
    body = r->bytes + r->at + sizeof head;
    r->is_skipping = 0;
    r->at += store_record_size(&head);
    r->result->bytes += store_record_size(&head);
    if (head.kind == STORE_RECORD_SPACE)
        load_space(r, &head, body, find);
    else if (head.kind == STORE_RECORD_ITEM)
        load_item(r, &head, body);
    else if (head.kind == STORE_RECORD_HISTORY)
        load_history(r, body);
    else
        r->result->complete = 1;
    return head.kind != STORE_RECORD_END;
}

/* The end is the last record, if it is there. */
static int has_end(int fd, off_t size, const store_record_file_t *file,
                   store_record_t *end)
{
    return size >= (off_t)(sizeof(store_record_file_t) + sizeof *end) &&
           pread(fd, end, sizeof *end, size - (off_t)sizeof *end) ==
               sizeof *end &&
           end->kind == STORE_RECORD_END && store_record_is_header(end, file) &&
           store_record_check(end, file) == end->check;
}

static int is_known(const store_record_file_t *file)
{
    return file->magic == STORE_RECORD_FILE && file->version > 0 &&
           file->version <= STORE_RECORD_VERSION;
}

int store_snapshot_look(int fd, store_snapshot_head_t *head)
{
    store_record_file_t file;
    store_record_t end;
    struct stat st;

    memset(head, 0, sizeof *head);
    if (fstat(fd, &st) != 0 || st.st_size == 0)
        return 0;
    head->changed = st.st_mtim.tv_sec * SECOND + st.st_mtim.tv_nsec;
    if (pread(fd, &file, sizeof file, 0) != sizeof file || !is_known(&file))
        return 1;
    head->number = file.number;
    head->whole = has_end(fd, st.st_size, &file, &end);
    if (head->whole) {
        head->live = end.bits & 1;
        head->at = end.flags;
    }
    return 1;
}

/* @return 1; 0: the file is empty, or no such file; -1: errno */
static int load_head(reader_t *r)
{
    store_record_file_t *head = &r->result->file;
    int rv = have(r, sizeof *head);

    if (rv <= 0)
        return rv;
    memcpy(head, r->bytes, sizeof *head);
    r->at = sizeof *head;
    r->result->bytes = sizeof *head;
    if (is_known(head))
        return 1;
    r->result->damaged++;
    return 0;
}

int store_snapshot_load(int fd, store_space_t *(*find)(const char *name),
                        int (*go_on)(void), store_snapshot_t *result)
{
    reader_t r = {.fd = fd, .result = result};
    int rv;

    memset(result, 0, sizeof *result);
    if (lseek(fd, 0, SEEK_SET) != 0)
        return -1;
    rv = load_head(&r);
    while (rv > 0 && !result->late) {
        rv = have(&r, sizeof(store_record_t));
        if (rv > 0 && !go_on())
            result->late = 1;
        else if (rv > 0)
            rv = load_one(&r, find);
    }
    free(r.bytes);
    return rv < 0 ? -1 : 0;
}
