/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/server/snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "store/clock.h"
#include "store/memory/item.h"
#include "store/server/handover.h"
#include "store/thread.h"

#define BUCKETS 64        /* whose items are taken at once */
#define LOOK    4         /* so often, and */
#define AWHILE  4096      /* bytes: from one look at the time to the next */
#define FULL    (4 << 20) /* bytes that are written at once */
#define LINE    64        /* bytes of a cache line */
#define NEAR    512 /* bytes of an item that are fetched before its turn */
#define TAKEN   64  /* items of these, at first */

/* Room for that many bytes more. @return NULL: there is no memory */
static char *make_room(store_save_t *s, size_t size)
{
    size_t room = s->n + size > FULL ? s->n + size : FULL;
    char *more;

    if (s->n + size <= s->room)
        return s->bytes + s->n;
    more = realloc(s->bytes, room);
    if (!more) {
        s->error = ENOMEM;
        return NULL;
    }
    s->bytes = more;
    s->room = room;
    return more + s->n;
}

/* Records follow each other without gaps, so one may begin at any address.
 * @param value NULL: it is that of the item */
static void put(store_save_t *s, const store_record_t *head, const void *key,
                const void *value, const store_space_t *space,
                const store_item_t *item)
{
    size_t size = store_record_size(head);
    store_record_t *r = (store_record_t *)(void *)make_room(s, size);
    uint64_t check;
    char *body;

    if (!r)
        return;
    body = (char *)(r + 1);
    memcpy(r, head, sizeof *head);
    memcpy(body, key, head->klen);
    if (value)
        memcpy(body + head->klen, value, head->length);
    else if (head->length > 0)
        store_item_read(space, item, 0, body + head->klen, head->length);
    check = store_record_check(r, &s->done.file);
    memcpy((char *)r + offsetof(store_record_t, check), &check, sizeof check);
    s->n += size;
}

static int has_time(store_save_t *s)
{
    if (!s->done.late && !s->go_on())
        s->done.late = 1;
    s->look_at = s->done.late ? 0 : s->n + AWHILE;
    return !s->done.late;
}

/* ---- items ---- */

/* Under the lock of the bucket. The first lines of the value are fetched before
 * their turn; the processor finds the rest itself. */
static void take(void *ctx, const store_item_t *item)
{
    store_save_t *s = ctx;
    uint32_t at;

    s->is_full |= s->n_taken == s->room_taken;
    if (s->is_full)
        return;
    s->taken[s->n_taken] = (store_item_t *)(uintptr_t)item;
    store_item_keep(s->taken[s->n_taken++]);
    for (at = LINE; at < NEAR && at < store_item_size(item); at += LINE)
        __builtin_prefetch((const char *)item + at);
}

static void give_back(store_save_t *s, store_space_t *space)
{
    while (s->n_taken > 0)
        store_item_release(space, s->taken[--s->n_taken]);
}

static int make_room_for_more(store_save_t *s)
{
    unsigned room = s->room_taken > 0 ? 2 * s->room_taken : TAKEN;
    store_item_t **more = realloc(s->taken, room * sizeof(store_item_t *));

    if (!more) {
        s->error = ENOMEM;
        return -1;
    }
    s->taken = more;
    s->room_taken = room;
    return 0;
}

/* A reference to each item of some buckets. @return 0: these were the last
 * ones */
static int take_buckets(store_save_t *s, store_space_t *space, uint32_t *cursor)
{
    uint32_t bucket = *cursor;
    int more;

    for (;;) {
        s->is_full = 0;
        more = store_index_walk(space, cursor, BUCKETS, take, s);
        if (!s->is_full)
            return more;
        give_back(s, space);
        *cursor = bucket;
        if (make_room_for_more(s) != 0)
            return 0;
    }
}

static void put_item(store_save_t *s, const store_space_t *space,
                     const store_item_t *item)
{
    uint32_t used = STORE_GET(item->used);
    store_record_t head = {.magic = STORE_RECORD_MAGIC,
                           .kind = STORE_RECORD_ITEM,
                           .klen = item->klen,
                           .bits = STORE_GET(item->bits) & STORE_RECORD_BITS,
                           .flags = item->flags,
                           .length = item->length,
                           .exptime =
                               store_clock_to_host(STORE_GET(item->exptime))};

    if (s->error || (s->n >= s->look_at && !has_time(s)))
        return;
    if (used < s->now)
        head.age = store_record_age(s->now - used);
    put(s, &head, store_item_key(item), NULL, space, item);
    s->items++;
}

int store_snapshot_fill(store_save_t *s, store_space_t *space, uint32_t *cursor)
{
    int more = 1;
    unsigned i, n;

    for (n = 0; more && s->n < FULL && !s->error; n++) {
        if (n % LOOK == 0 && !has_time(s))
            break;
        more = take_buckets(s, space, cursor);
        for (i = 0; i < s->n_taken; i++)
            put_item(s, space, s->taken[i]);
        give_back(s, space);
    }
    return more && !s->error && !s->done.late;
}

/* The disk begins at once, and not when everything is in the cache. Not each
 * kind of file knows that. */
static void write_early(store_save_t *s)
{
    uint64_t from = s->done.bytes;

    if (store_snapshot_write(s) == 0)
        sync_file_range(s->fd, (off_t)from, (off_t)(s->done.bytes - from),
                        SYNC_FILE_RANGE_WRITE);
}

/* ---- a thread that writes while the next items are put ---- */

typedef struct {
    char *bytes;
    size_t n, room;
    uint64_t items;
} block_t;

typedef struct {
    store_handover_t handover;
    pthread_t thread;
    int runs;
    block_t block[2];
    int next;        /* the block to give */
    store_save_t to; /* the file. The thread's */
} writer_t;

static void *run(void *ctx)
{
    writer_t *w = ctx;
    block_t *b;

    while ((b = store_handover_take(&w->handover)) != NULL) {
        w->to.bytes = b->bytes;
        w->to.n = b->n;
        w->to.items = b->items;
        write_early(&w->to);
        store_handover_done(&w->handover, w->to.error);
    }
    return NULL;
}

static void start_writer(writer_t *w, const store_save_t *s)
{
    memset(w, 0, sizeof *w);
    w->to.fd = s->fd;
    w->to.done = s->done;
    store_handover_open(&w->handover);
    w->runs = store_thread_start(&w->thread, "save", run, w) == 0;
}

/* The bytes go to the thread, and come back when they are written.
 * @return 0; -1: it cannot write */
static int give(writer_t *w, store_save_t *s)
{
    block_t *full = &w->block[w->next], *empty = &w->block[!w->next];

    *full = (block_t){s->bytes, s->n, s->room, s->items};
    if (store_handover_give(&w->handover, full) != 0)
        return -1;
    w->next = !w->next;
    s->bytes = empty->bytes;
    s->room = empty->room;
    s->n = s->look_at = s->items = 0;
    return 0;
}

static void end_writer(writer_t *w, store_save_t *s)
{
    if (w->runs) {
        store_handover_end(&w->handover);
        pthread_join(w->thread, NULL);
        s->done.bytes = w->to.done.bytes;
        s->done.items = w->to.done.items;
        if (w->to.error)
            s->error = w->to.error;
        free(w->block[!w->next].bytes);
    }
    store_handover_close(&w->handover);
}

int store_snapshot_save(store_save_t *s, store_space_t *space)
{
    uint32_t cursor = 0;
    writer_t w;
    int more;

    start_writer(&w, s);
    store_snapshot_space(s, space);
    do {
        more = store_snapshot_fill(s, space, &cursor);
        if (!w.runs)
            write_early(s);
        else if (!s->error)
            more &= give(&w, s) == 0;
    } while (more && !s->error);
    end_writer(&w, s);
    return s->error ? -1 : s->done.late;
}

/* ---- everything else ---- */

/* A build that does not know this kind skips it. */
static void put_history(store_save_t *s, const store_history_t *history)
{
    store_record_t head = {.magic = STORE_RECORD_MAGIC,
                           .kind = STORE_RECORD_HISTORY,
                           .length = sizeof *history};

    put(s, &head, "", history, NULL, NULL);
}

void store_snapshot_space(store_save_t *s, const store_space_t *space)
{
    store_record_t head = {
        .magic = STORE_RECORD_MAGIC,
        .kind = STORE_RECORD_SPACE,
        .klen = (uint8_t)strnlen(space->name, STORE_NAME - 1),
        .flags = store_clock_to_host(STORE_GET(space->entry->flush_at)),
        .exptime = (int64_t)(STORE_GET(space->entry->cas) + s->ahead)};

    s->now = store_clock();
    put(s, &head, space->name, "", NULL, NULL);
}

int store_snapshot_write(store_save_t *s)
{
    size_t at = 0;

    while (at < s->n && !s->error) {
        ssize_t done = write(s->fd, s->bytes + at, s->n - at);

        if (done >= 0)
            at += (size_t)done;
        else if (errno != EINTR)
            s->error = errno;
    }
    s->done.bytes += at;
    if (!s->error)
        s->done.items += s->items;
    s->n = s->look_at = s->items = 0;
    errno = s->error;
    return s->error ? -1 : 0;
}

int store_snapshot_begin(store_save_t *s, int fd, uint32_t number,
                         int (*go_on)(void), const store_history_t *history)
{
    store_record_file_t head = {STORE_RECORD_FILE, STORE_RECORD_VERSION, number,
                                ""};

    memset(s, 0, sizeof *s);
    s->fd = fd;
    s->go_on = go_on;
    if (getrandom(head.key, sizeof head.key, 0) != sizeof head.key ||
        ftruncate(fd, 0) != 0 || lseek(fd, 0, SEEK_SET) != 0 ||
        write(fd, &head, sizeof head) != sizeof head) {
        s->error = errno;
        return -1;
    }
    s->done.file = head;
    s->done.bytes = sizeof head;
    if (history->n > 0)
        put_history(s, history);
    return store_snapshot_write(s);
}

int store_snapshot_end(store_save_t *s)
{
    int64_t now = time(NULL);
    store_record_t head = {.magic = STORE_RECORD_MAGIC,
                           .kind = STORE_RECORD_END,
                           .bits = s->ahead > 0,
                           .flags =
                               now > 0 && now < UINT32_MAX ? (uint32_t)now : 0};

    if (store_snapshot_write(s) != 0)
        return -1;
    head.exptime = (int64_t)s->done.items;
    put(s, &head, "", "", NULL, NULL);
    if (store_snapshot_write(s) != 0)
        return -1;
    s->done.complete = 1;
    return 0;
}

void store_snapshot_close(store_save_t *s)
{
    free(s->bytes);
    free(s->taken);
    s->bytes = NULL;
    s->taken = NULL;
}
