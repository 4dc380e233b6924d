/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/memory/changes.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "store/atomic.h"
#include "store/bell.h"

#define READERS    5
#define SIZE_LEAST 4096
#define ALIGN(n)   (((n) + 7) & ~(size_t)7)

/* A change in the ring; its key follows. A change that does not fit before the
 * end of the ring is at the beginning of the ring instead. What is left then
 * has the kind 0, or has no room for a change. */
typedef struct {
    store_space_t *space;
    uint64_t cas;
    uint64_t position;
    uint32_t at; /* ms, the low bits */
    uint8_t kind;
    uint8_t klen;
    uint8_t unused[2];
} entry_t;

/* What is done with a change. */
enum { IGNORED, COUNTED, LISTED };

typedef struct {
    pthread_mutex_t guard; /* of the changes of `bell` */
    int bell;              /* -1: this reader does not wait; atomic */
    uint64_t seen; /* the end of the list when it began to wait; atomic */
} waiter_t;

#define AWAKE                                                                  \
    {                                                                          \
        PTHREAD_MUTEX_INITIALIZER, -1, 0                                       \
    }

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int mode;     /* atomic; changes under the lock */
static uint64_t end; /* bytes since the list was made; atomic, changes under
                        the lock */
static waiter_t waiters[READERS] = {AWAKE, AWAKE, AWAKE, AWAKE, AWAKE};

/* Under the lock. */
static char *ring;
static size_t size;
static uint64_t listed; /* changes since the list was made */
static uint64_t sent;   /* so many of them are at a slave, too */

static uint64_t unlisted; /* changes without a list; atomic */

/* Changes since the epoch began; atomic. With a list it grows under the lock,
 * so the positions in the list are in order. */
static uint64_t no_epoch, *position = &no_epoch;
static _Thread_local uint64_t mine; /* of the last change of this thread */

int store_changes_open(size_t bytes)
{
    int made;

    pthread_mutex_lock(&lock);
    if (!ring) {
        size = ALIGN(bytes < SIZE_LEAST ? SIZE_LEAST : bytes);
        ring = malloc(size);
        STORE_SET_RELEASE(end, 0);
        listed = sent = 0;
    }
    made = ring != NULL;
    if (made)
        STORE_SET_RELEASE(mode, LISTED);
    pthread_mutex_unlock(&lock);
    return made ? 0 : -1;
}

void store_changes_close(void)
{
    pthread_mutex_lock(&lock);
    STORE_SET_RELEASE(mode, COUNTED);
    free(ring);
    ring = NULL;
    STORE_ADD(unlisted, listed - sent);
    listed = sent = 0;
    pthread_mutex_unlock(&lock);
}

/* ---- a writer ---- */

static uint32_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return (uint32_t)((uint64_t)t.tv_sec * 1000 +
                      (uint64_t)t.tv_nsec / 1000000);
}

static uint64_t count(void)
{
    mine = __atomic_add_fetch(position, 1, __ATOMIC_ACQ_REL);
    return mine;
}

static void count_unlisted(void)
{
    count();
    STORE_ADD(unlisted, 1);
}

/* Bytes from there to the end of the ring. */
static size_t left(uint64_t at)
{
    return size - at % size;
}

/* Where the next change of this size is. */
static uint64_t place(size_t need)
{
    const entry_t none = {NULL, 0, 0, 0, 0, 0, {0}};
    size_t rest = left(end);

    if (rest >= need)
        return end;
    if (rest >= sizeof none)
        memcpy(ring + end % size, &none, sizeof none);
    return end + rest;
}

static void append(entry_t *e, const void *key)
{
    size_t need = ALIGN(sizeof *e + e->klen);
    uint64_t at = place(need);

    e->position = count();
    memcpy(ring + at % size, e, sizeof *e);
    if (e->klen > 0)
        memcpy(ring + at % size + sizeof *e, key, e->klen);
    STORE_SET_RELEASE(end, at + need);
    listed++;
}

void store_changes_add(store_space_t *space, store_change_kind_t kind,
                       const void *key, uint8_t klen, uint64_t cas)
{
    entry_t e = {space, cas, 0, 0, (uint8_t)kind, klen, {0}};

    switch (STORE_GET_ACQUIRE(mode)) {
    case IGNORED:
        return;
    case COUNTED:
        count_unlisted();
        return;
    default:
        e.at = now();
        pthread_mutex_lock(&lock);
        if (ring)
            append(&e, key);
        else
            count_unlisted();
        pthread_mutex_unlock(&lock);
    }
}

/* Writers have none of their changes counted meanwhile: nobody is served. */
void store_changes_count_in(uint64_t *at)
{
    pthread_mutex_lock(&lock);
    position = at ? at : &no_epoch;
    pthread_mutex_unlock(&lock);
}

uint64_t store_changes_position(void)
{
    return STORE_GET_ACQUIRE(*position);
}

uint64_t store_changes_mine(void)
{
    return mine;
}

/* ---- a reader ---- */

void store_changes_end(store_cursor_t *cursor)
{
    pthread_mutex_lock(&lock);
    cursor->at = end;
    cursor->n = listed;
    cursor->position = STORE_GET_ACQUIRE(*position);
    pthread_mutex_unlock(&lock);
}

/* Under the lock: the next change of a reader that was not overtaken.
 * @return 0: there is none */
static int next(store_cursor_t *cursor, entry_t *e)
{
    if (cursor->at == end)
        return 0;
    e->kind = 0;
    if (left(cursor->at) >= sizeof *e)
        memcpy(e, ring + cursor->at % size, sizeof *e);
    if (e->kind == 0) {
        cursor->at += left(cursor->at);
        memcpy(e, ring, sizeof *e);
    }
    return 1;
}

static void take(store_cursor_t *cursor, const entry_t *e,
                 store_change_t *change)
{
    change->space = e->space;
    change->kind = (store_change_kind_t)e->kind;
    change->klen = e->klen;
    change->cas = e->cas;
    change->position = e->position;
    memcpy(change->key, ring + cursor->at % size + sizeof *e, e->klen);
    cursor->at += ALIGN(sizeof *e + e->klen);
    cursor->position = e->position;
    cursor->n++;
}

/* Under the lock. A writer that has seen no list counts its change a moment
 * later, and it does not get into the list. The bucket was locked meanwhile, so
 * it is in the copy that came after the list. */
static void pass_unlisted(store_cursor_t *cursor)
{
    if (cursor->at == end)
        cursor->position = STORE_GET_ACQUIRE(*position);
}

int store_changes_read(store_cursor_t *cursor, store_change_t *changes,
                       size_t *n)
{
    size_t room = *n;
    int overtaken;
    entry_t e;

    *n = 0;
    pthread_mutex_lock(&lock);
    overtaken = !ring || end - cursor->at > size;
    while (!overtaken && *n < room && next(cursor, &e))
        take(cursor, &e, &changes[(*n)++]);
    if (!overtaken)
        pass_unlisted(cursor);
    pthread_mutex_unlock(&lock);
    return overtaken ? -1 : 0;
}

uint64_t store_changes_lag(const store_cursor_t *cursor, int64_t *ms)
{
    store_cursor_t copy;
    uint64_t n;
    entry_t e;

    *ms = 0;
    pthread_mutex_lock(&lock);
    copy = *cursor;
    n = listed - cursor->n;
    if (ring && end - copy.at <= size && next(&copy, &e))
        *ms = (uint32_t)(now() - e.at);
    pthread_mutex_unlock(&lock);
    return n;
}

void store_changes_sent(const store_cursor_t *cursor)
{
    pthread_mutex_lock(&lock);
    if (cursor->n > sent)
        sent = cursor->n;
    STORE_SET_RELEASE(unlisted, 0);
    pthread_mutex_unlock(&lock);
}

uint64_t store_changes_unsent(void)
{
    uint64_t n;

    pthread_mutex_lock(&lock);
    n = STORE_GET_ACQUIRE(unlisted) + listed - sent;
    pthread_mutex_unlock(&lock);
    return n;
}

/* ---- readers that wait ---- */

/* Afterwards the reader looks at the list again, which takes the lock. So it
 * sees a change, or the writer of the change sees that it waits. */
void store_changes_wait(unsigned reader, int bell)
{
    waiter_t *w = &waiters[reader];

    pthread_mutex_lock(&w->guard);
    STORE_SET_RELEASE(w->seen, STORE_GET_ACQUIRE(end));
    STORE_SET_RELEASE(w->bell, bell);
    pthread_mutex_unlock(&w->guard);
}

/* The reader may close its bell after store_changes_wait(-1), so that waits for
 * the write. */
static void ring_bell(waiter_t *w)
{
    pthread_mutex_lock(&w->guard);
    if (w->bell >= 0)
        store_bell_ring(w->bell);
    STORE_SET_RELEASE(w->bell, -1);
    pthread_mutex_unlock(&w->guard);
}

void store_changes_ring(void)
{
    uint64_t here;
    unsigned i;

    if (STORE_GET_ACQUIRE(mode) != LISTED)
        return;
    here = STORE_GET_ACQUIRE(end);
    for (i = 0; i < READERS; i++)
        if (STORE_GET_ACQUIRE(waiters[i].bell) >= 0 &&
            STORE_GET_ACQUIRE(waiters[i].seen) != here)
            ring_bell(&waiters[i]);
}
