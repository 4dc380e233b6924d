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
    uint32_t used = STORE_GET(item->used), exptime = STORE_GET(item->exptime);
    store_record_t head = {.magic = STORE_RECORD_MAGIC,
                           .kind = STORE_RECORD_ITEM,
                           .klen = item->klen,
                           .bits = STORE_GET(item->bits) & STORE_RECORD_BITS,
                           .flags = item->flags,
                           .length = item->length};

    if (w->error)
        return;
    if (!has_time(w))
        return;
    if (used < w->now)
        head.age = store_record_age(w->now - used);
    if (exptime != 0)
        head.exptime = w->host + ((int64_t)exptime - w->now);
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
    } r = {.head = {.magic = STORE_RECORD_MAGIC,
                    .kind = STORE_RECORD_HISTORY,
                    .length = sizeof *history},
           .history = *history};

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

/* s since 1970; 0: never */
static uint32_t on_host(uint32_t at)
{
    int64_t host = time(NULL) + ((int64_t)at - store_clock());

    return at == 0 ? 0 : host < 1 ? 1 : host < UINT32_MAX ? (uint32_t)host : 0;
}

static void put_space(writer_t *w, const store_space_t *space)
{
    store_record_t head = {.magic = STORE_RECORD_MAGIC,
                           .kind = STORE_RECORD_SPACE,
                           .klen =
                               (uint8_t)strnlen(space->name, STORE_NAME - 1),
                           .flags = on_host(STORE_GET(space->entry->flush_at)),
                           .exptime = (int64_t)STORE_GET(space->entry->cas)};

    put(w, &head, space->name, NULL);
}

int store_snapshot_space(int fd, const store_space_t *space,
                         store_snapshot_t *result)
{
    writer_t w = {.fd = fd, .result = result};

    put_space(&w, space);
    return done(&w);
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
    uint32_t cursor = 0;

    put_space(&w, space);
    /* Many buckets may have no item. */
    while (!w.error && has_time(&w) &&
           store_index_walk(space, &cursor, BUCKETS, put_item, &w))
        continue;
    return done(&w) != 0 ? -1 : result->late;
}

int store_snapshot_end(int fd, store_snapshot_t *result)
{
    writer_t w = {.fd = fd, .result = result};
    store_record_t head = {.magic = STORE_RECORD_MAGIC,
                           .kind = STORE_RECORD_END,
                           .exptime = (int64_t)result->items};

    put(&w, &head, "", NULL);
    if (done(&w) != 0)
        return -1;
    result->complete = 1;
    return 0;
}
