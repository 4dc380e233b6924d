/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/server/snapshot_load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/clock.h"
#include "store/memory/item.h"
#include "store/server/handover.h"
#include "store/thread.h"

#define FULL   (4 << 20) /* bytes that are read at once */
#define AWHILE 4096      /* bytes: from one look at the time to the next */
#define SECOND INT64_C(1000000000) /* ns */

/* Bytes of the file. Up to `sound` there are only records that are sound. */
typedef struct {
    char *bytes;
    size_t sound, at, end, room;
} block_t;

typedef struct {
    int fd;
    block_t block[2];
    block_t *b;      /* the one that is filled */
    int is_skipping; /* no record was found since the last one */
    int error;       /* errno; 0: none */
    store_snapshot_t *result;
    store_handover_t handover;
} reader_t;

typedef struct {
    store_space_t *(*find)(const char *name);
    int (*go_on)(void);
    store_space_t *space;
    store_snapshot_t *result;
} loader_t;

#define NO_ROOM 2

/* Have that many bytes together. @return 0: the file has no more; NO_ROOM: they
 * belong to the next block; -1: errno */
static int have(reader_t *r, size_t size)
{
    block_t *b = r->b;

    if (b->end - b->at >= size)
        return 1;
    if (b->at + size > b->room) {
        if (b->sound > 0)
            return NO_ROOM;
        if (b->at > 0)
            memmove(b->bytes, b->bytes + b->at, b->end - b->at);
        b->end -= b->at;
        b->at = 0;
    }
    if (size > b->room) {
        char *more = realloc(b->bytes, size + FULL);

        if (!more)
            return -1;
        b->bytes = more;
        b->room = size + FULL;
    }
    while (b->end - b->at < size) {
        ssize_t n = read(r->fd, b->bytes + b->end, b->room - b->end);

        if (n == 0)
            return 0;
        if (n < 0 && errno != EINTR)
            return -1;
        if (n > 0)
            b->end += (size_t)n;
    }
    return 1;
}

static void load_space(loader_t *r, const store_record_t *head,
                       const char *name)
{
    char copy[STORE_NAME] = "";
    uint64_t cas = (uint64_t)head->exptime;

    memcpy(copy, name, head->klen);
    r->space = r->find(copy);
    if (!r->space)
        return;
    /* A cas is not given twice, so that an old one changes nothing. */
    store_space_raise_cas(r->space, cas);
    if (head->flags != 0)
        store_space_flush_at(r->space, store_clock_from_host(head->flags));
}

static void load_item(loader_t *r, const store_record_t *head, const char *key)
{
    uint32_t exptime = store_clock_from_host(head->exptime),
             now = store_clock(), age = store_record_age_s(head->age);
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
static void load_history(loader_t *r, const char *body)
{
    store_history_t *h = &r->result->history;

    memcpy(h, body, sizeof *h);
    if (h->n > STORE_EPOCHS)
        memset(h, 0, sizeof *h);
}

static void load_record(loader_t *l, const store_record_t *head,
                        const char *body)
{
    l->result->bytes += store_record_size(head);
    if (head->kind == STORE_RECORD_SPACE)
        load_space(l, head, body);
    else if (head->kind == STORE_RECORD_ITEM)
        load_item(l, head, body);
    else if (head->kind == STORE_RECORD_HISTORY)
        load_history(l, body);
    else
        l->result->complete = 1;
}

static void load_block(loader_t *l, const block_t *b)
{
    store_record_t head;
    size_t at, look_at = 0;

    for (at = 0; at < b->sound; at += store_record_size(&head)) {
        if (at >= look_at) {
            if (!l->go_on()) {
                l->result->late = 1;
                return;
            }
            look_at = at + AWHILE;
        }
        memcpy(&head, b->bytes + at, sizeof head);
        load_record(l, &head, b->bytes + at + sizeof head);
    }
}

/* ---- a thread that reads and checks ---- */

/* @return 1: the next record is sound; 0: it is not; NO_ROOM; -1: errno */
static int is_record(reader_t *r, store_record_t *head)
{
    int rv;

    memcpy(head, r->b->bytes + r->b->at, sizeof *head);
    if (!store_record_is_header(head, &r->result->file))
        return 0;
    rv = have(r, store_record_size(head));
    if (rv != 1)
        return rv;
    return store_record_check((const store_record_t *)(r->b->bytes + r->b->at),
                              &r->result->file) == head->check;
}

/* To what looks like a header; or to the last bytes, which may be a part of
 * one. */
static void skip(reader_t *r)
{
    const uint32_t magic = STORE_RECORD_MAGIC;
    block_t *b = r->b;
    const char *from = b->bytes + b->at + 1,
               *found = memmem(from, b->end - b->at - 1, &magic, sizeof magic);

    r->result->damaged += !r->is_skipping;
    r->is_skipping = 1;
    b->at = found ? (size_t)(found - b->bytes) : b->end - (sizeof magic - 1);
}

/* The next record is sound. What was skipped before it goes. */
static void keep(reader_t *r, const store_record_t *head)
{
    block_t *b = r->b;
    size_t size = store_record_size(head);

    if (b->sound < b->at)
        memmove(b->bytes + b->sound, b->bytes + b->at, size);
    b->sound += size;
    b->at += size;
    r->is_skipping = 0;
}

/* @return NO_ROOM: the block is full; 0: that was the last one; -1: errno */
static int fill(reader_t *r)
{
    store_record_t head;
    int rv;

    for (;;) {
        rv = have(r, sizeof head);
        if (rv == 1)
            rv = is_record(r, &head);
        else if (rv == 0)
            return 0;
        if (rv == 0)
            skip(r);
        else if (rv != 1)
            return rv;
        else {
            keep(r, &head);
            if (head.kind == STORE_RECORD_END)
                return 0;
        }
    }
}

/* What is left of a block goes to the other one, which is empty.
 * @return 0; -1: errno */
static int turn(reader_t *r)
{
    const block_t *from = r->b;
    size_t left = from->end - from->at;
    block_t *b = r->b = &r->block[from == r->block];

    b->sound = b->at = b->end = 0;
    if (left > b->room) {
        free(b->bytes);
        b->bytes = malloc(left + FULL);
        b->room = b->bytes ? left + FULL : 0;
        if (!b->bytes)
            return -1;
    }
    if (left > 0)
        memcpy(b->bytes, from->bytes + from->at, left);
    b->end = left;
    return 0;
}

/* @return 1: there is more behind this block */
static int next(reader_t *r)
{
    int rv = turn(r) == 0 ? fill(r) : -1;

    if (rv < 0)
        r->error = errno;
    return rv == NO_ROOM;
}

static void *run(void *ctx)
{
    reader_t *r = ctx;
    int more;

    do
        more = next(r);
    while (store_handover_give(&r->handover, r->b) == 0 && more);
    store_handover_end(&r->handover);
    return NULL;
}

/* Also without a thread. @return 0; -1: errno */
static int load_all(reader_t *r, loader_t *l)
{
    pthread_t thread;
    const block_t *b;
    int more;

    store_handover_open(&r->handover);
    if (store_thread_start(&thread, "load", run, r) == 0) {
        while ((b = store_handover_take(&r->handover)) != NULL) {
            load_block(l, b);
            store_handover_done(&r->handover, l->result->late);
        }
        pthread_join(thread, NULL);
    }
    else
        do {
            more = next(r);
            load_block(l, r->b);
        } while (more && !l->result->late);
    store_handover_close(&r->handover);
    errno = r->error;
    return r->error ? -1 : 0;
}

/* ---- what a file says of itself ---- */

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

/* A power cut may leave a file that has a length, and zeros. Other files of
 * zeros at first, such as one for swap, have something within a page. A page
 * that the disk cannot read says nothing. */
const char *store_snapshot_why_not(int fd)
{
    static const char zeros[4096];
    const uint64_t magic = STORE_RECORD_FILE;
    char page[sizeof zeros] = "";
    store_record_file_t file;
    ssize_t n = pread(fd, page, sizeof page, 0);

    if (n < 0 || memcmp(page, zeros, sizeof zeros) == 0)
        return NULL;
    memcpy(&file, page, sizeof file);
    if (memcmp(page, &magic,
               (size_t)n < sizeof magic ? (size_t)n : sizeof magic) != 0)
        return "it is no file of the store";
    return file.version > STORE_RECORD_VERSION ? STORE_SNAPSHOT_NEWER : NULL;
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
    memcpy(head, r->b->bytes, sizeof *head);
    r->b->at = sizeof *head;
    r->result->bytes = sizeof *head;
    if (is_known(head))
        return 1;
    r->result->damaged++;
    return 0;
}

int store_snapshot_load(int fd, store_space_t *(*find)(const char *name),
                        int (*go_on)(void), store_snapshot_t *result)
{
    reader_t r = {.fd = fd, .b = r.block, .result = result};
    loader_t l = {.find = find, .go_on = go_on, .result = result};
    int rv;

    memset(result, 0, sizeof *result);
    if (lseek(fd, 0, SEEK_SET) != 0)
        return -1;
    rv = load_head(&r);
    if (rv > 0)
        rv = load_all(&r, &l);
    free(r.block[0].bytes);
    free(r.block[1].bytes);
    return rv < 0 ? -1 : 0;
}
