/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/server/snapshot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "store/clock.h"
#include "store/memory/index.h"
#include "store/server/record.h"

#define BUCKETS 256       /* that are looked at at once */
#define FULL    (4 << 20) /* bytes that are written at once */

/* Bytes that are not written yet. */
typedef struct {
    int fd;
    int error; /* errno; 0: none */
    char *bytes;
    size_t n, room;
    uint64_t items; /* in these bytes */
    store_space_t *space;
    store_snapshot_t *result;
    int (*go_on)(void);
    int64_t host;
    uint32_t now;
} writer_t;

static void flush_out(writer_t *w)
{
    size_t at = 0;

    while (at < w->n && !w->error) {
        ssize_t done = write(w->fd, w->bytes + at, w->n - at);

        if (done >= 0)
            at += (size_t)done;
        else if (errno != EINTR)
            w->error = errno;
    }
    w->result->bytes += at;
    if (!w->error)
        w->result->items += w->items;
    w->n = w->items = 0;
}

static store_record_t *make_room(writer_t *w, size_t size)
{
    if (w->n + size > FULL)
        flush_out(w);
    if (w->n + size > w->room) {
        size_t room = size > FULL ? size : FULL;
        char *more = realloc(w->bytes, room);

        if (!more) {
            w->error = ENOMEM;
            return NULL;
        }
        w->bytes = more;
        w->room = room;
    }
    return (store_record_t *)(w->bytes + w->n);
}

/* Records follow each other without gaps, so one may begin at any address. */
static void put(writer_t *w, const store_record_t *head, const void *key,
                const store_item_t *item)
{
    size_t size = store_record_size(head);
    store_record_t *r = make_room(w, size);
    uint64_t check;
    char *body;

    if (!r)
        return;
    body = (char *)(r + 1);
    memcpy(r, head, sizeof *head);
    memcpy(body, key, head->klen);
    if (item && head->length > 0)
        store_item_read(w->space, item, 0, body + head->klen, head->length);
    check = store_record_check(r, w->result->key);
    memcpy((char *)r + offsetof(store_record_t, check), &check, sizeof check);
    w->n += size;
}

static int has_time(writer_t *w)
{
    if (!w->result->late && !w->go_on())
        w->result->late = 1;
    return !w->result->late;
}

/* No other thread runs, so no thread waits for the lock of the bucket. */
static void put_item(void *ctx, const store_item_t *item)
{
    writer_t *w = ctx;
    store_record_t head = {
        STORE_RECORD_MAGIC, STORE_RECORD_ITEM, item->klen, {0},
        item->flags,        item->length,      0,          0};

    if (w->error)
        return;
    if (!has_time(w))
        return;
    if (item->exptime != 0)
        head.exptime = w->host + ((int64_t)item->exptime - w->now);
    put(w, &head, store_item_key(item), item);
    w->items++;
}

static int done(writer_t *w)
{
    flush_out(w);
    free(w->bytes);
    if (!w->error)
        return 0;
    errno = w->error;
    return -1;
}

/* A build that does not know this kind skips it. */
static int put_history(int fd, const store_history_t *history,
                       store_snapshot_t *result)
{
    writer_t w = {.fd = fd, .result = result};
    struct {
        store_record_t head;
        store_history_t history;
    } r = {{STORE_RECORD_MAGIC,
            STORE_RECORD_HISTORY,
            0,
            {0},
            0,
            sizeof *history,
            0,
            0},
           *history};

    r.head.check = store_record_check(&r.head, result->key);
    if (make_room(&w, sizeof r)) {
        memcpy(w.bytes, &r, sizeof r);
        w.n = sizeof r;
    }
    return done(&w);
}

int store_snapshot_begin(int fd, const store_history_t *history,
                         store_snapshot_t *result)
{
    store_record_file_t head = {STORE_RECORD_FILE, STORE_RECORD_VERSION, 0, ""};

    memset(result, 0, sizeof *result);
    if (getrandom(head.key, sizeof head.key, 0) != sizeof head.key ||
        ftruncate(fd, 0) != 0 || lseek(fd, 0, SEEK_SET) != 0 ||
        write(fd, &head, sizeof head) != sizeof head)
        return -1;
    memcpy(result->key, head.key, sizeof head.key);
    result->bytes = sizeof head;
    return history->n > 0 ? put_history(fd, history, result) : 0;
}

int store_snapshot_save(int fd, store_space_t *space, int (*go_on)(void),
                        store_snapshot_t *result)
{
    writer_t w = {.fd = fd,
                  .space = space,
                  .result = result,
                  .go_on = go_on,
                  .host = time(NULL),
                  .now = store_clock()};
    store_record_t head = {STORE_RECORD_MAGIC,
                           STORE_RECORD_SPACE,
                           (uint8_t)strnlen(space->name, STORE_NAME - 1),
                           {0},
                           0,
                           0,
                           (int64_t)space->entry->cas,
                           0};
    uint32_t cursor = 0;

    put(&w, &head, space->name, NULL);
    /* Many buckets may have no item with these bits. */
    while (!w.error && has_time(&w) &&
           store_index_walk(space, &cursor, BUCKETS, put_item, &w))
        continue;
    return done(&w) != 0 ? -1 : result->late;
}

int store_snapshot_end(int fd, store_snapshot_t *result)
{
    writer_t w = {.fd = fd, .result = result};
    store_record_t head = {STORE_RECORD_MAGIC,
                           STORE_RECORD_END,
                           0,
                           {0},
                           0,
                           0,
                           (int64_t)result->items,
                           0};

    put(&w, &head, "", NULL);
    if (done(&w) != 0)
        return -1;
    result->complete = 1;
    return 0;
}

/* ---- load ---- */

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

static void load_space(reader_t *r, const store_record_t *head,
                       const char *name,
                       store_space_t *(*find)(const char *name))
{
    char copy[STORE_NAME] = "";
    uint64_t cas = (uint64_t)head->exptime;

    memcpy(copy, name, head->klen);
    r->space = find(copy);
    /* A cas is not given twice, so that an old one changes nothing. */
    if (r->space && r->space->entry->cas < cas)
        __atomic_store_n(&r->space->entry->cas, cas, __ATOMIC_RELAXED);
}

static void load_item(reader_t *r, const store_record_t *head, const char *key)
{
    int64_t left = head->exptime - time(NULL);
    uint32_t exptime = 0;
    store_bucket_t bucket;
    store_item_t *item;

    if (head->exptime != 0 && left <= 0) {
        r->result->expired++;
        return;
    }
    if (head->exptime != 0)
        exptime = left > UINT32_MAX - store_clock()
                      ? UINT32_MAX
                      : store_clock() + (uint32_t)left;
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
    store_index_lock(&bucket, r->space, key, head->klen);
    /* A load that was killed has put it. */
    if (!store_index_find(&bucket, NULL))
        store_index_put(&bucket, item, NULL, 0);
    store_index_unlock(&bucket);
    store_item_release(r->space, item);
    r->result->items++;
}

/* A check is no signature, so the numbers are looked at. */
static void load_history(reader_t *r, const char *body)
{
    memcpy(&r->result->history, body, sizeof r->result->history);
    if (r->result->history.n > STORE_EPOCHS)
        r->result->history.n = 0;
}

/* @return 1: the record at the beginning of the bytes is sound; 0: it is not;
 * -1: errno */
static int is_record(reader_t *r, store_record_t *head)
{
    int rv;

    memcpy(head, r->bytes + r->at, sizeof *head);
    if (!store_record_is_header(head))
        return 0;
    rv = have(r, store_record_size(head));
    if (rv <= 0)
        return rv;
    return store_record_check((const store_record_t *)(r->bytes + r->at),
                              r->result->key) == head->check;
}

static void skip(reader_t *r)
{
    r->result->damaged += !r->is_skipping;
    r->is_skipping = 1;
    r->at++;
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

/* @return 1; 0: the file is empty, or no such file; -1: errno */
static int load_head(reader_t *r)
{
    store_record_file_t head;
    int rv = have(r, sizeof head);

    if (rv <= 0)
        return rv;
    memcpy(&head, r->bytes, sizeof head);
    r->at = sizeof head;
    r->result->bytes = sizeof head;
    memcpy(r->result->key, head.key, sizeof head.key);
    if (head.magic == STORE_RECORD_FILE && head.version == STORE_RECORD_VERSION)
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
