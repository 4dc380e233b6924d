/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/server/sweeper_thread.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "store/memory/changes.h"
#include "store/memory/sweeper.h"
#include "store/thread.h"

#define SECOND INT64_C(1000000000) /* ns */
/* A slice is followed by a pause of that many times its length: 5 % of a
 * CPU. */
#define PAUSES 19

static store_space_t *(*space_of)(unsigned n);
static pthread_t thread;
static pthread_mutex_t spaces = PTHREAD_MUTEX_INITIALIZER;
/* For the end only. */
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;
static int stopping, is_running;

void store_sweeper_thread_lock(void)
{
    pthread_mutex_lock(&spaces);
}

void store_sweeper_thread_unlock(void)
{
    pthread_mutex_unlock(&spaces);
}

/* @return 1: the thread has to stop */
static int pause_for(int64_t ns)
{
    int64_t at = store_thread_now() + ns;
    struct timespec until = {at / SECOND, (long)(at % SECOND)};
    int rv;

    pthread_mutex_lock(&guard);
    while (!stopping &&
           pthread_cond_timedwait(&changed, &guard, &until) != ETIMEDOUT)
        continue;
    rv = stopping;
    pthread_mutex_unlock(&guard);
    return rv;
}

/* One slice of a space, if its pass is not complete.
 * @param done by slot: the pass is complete
 * @return 1; 0: there is no such space; -1: the thread has to stop */
static int sweep(unsigned n, char *done, int *goes_on)
{
    int64_t began = store_thread_now();
    store_space_t *space;
    int had_work = 0;

    store_sweeper_thread_lock();
    space = space_of(n);
    if (space && !done[space->slot]) {
        had_work = 1;
        done[space->slot] = !store_sweeper_run(space, STORE_SWEEPER_CHUNKS);
        *goes_on |= !done[space->slot];
    }
    store_sweeper_thread_unlock();
    store_changes_ring();
    if (had_work && pause_for((store_thread_now() - began) * PAUSES))
        return -1;
    return space != NULL;
}

/* A pass over all spaces, a slice of each in turn.
 * @return 1: the thread has to stop */
static int sweep_all(void)
{
    char done[STORE_SPACES] = "";
    int goes_on, rv;
    unsigned n;

    do {
        goes_on = 0;
        for (n = 0; (rv = sweep(n, done, &goes_on)) > 0; n++)
            continue;
    } while (rv == 0 && goes_on);
    return rv < 0;
}

static void *run(void *ctx)
{
    (void)ctx;
    while (!pause_for(STORE_SWEEPER_PAUSE * SECOND) && !sweep_all())
        continue;
    return NULL;
}

int store_sweeper_thread_start(store_space_t *(*nth)(unsigned n))
{
    space_of = nth;
    store_thread_condition(&changed);
    is_running = store_thread_start(&thread, "sweeper", run, NULL) == 0;
    return is_running ? 0 : -1;
}

void store_sweeper_thread_stop(void)
{
    if (!is_running)
        return;
    pthread_mutex_lock(&guard);
    stopping = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&guard);
    pthread_join(thread, NULL);
    is_running = 0;
}
