/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file store_watch.h
 * @brief The watchdog's care for the store: started while there is a table for
 *        it, started again after its end, stopped last. libc only.
 *
 * Crash: the next watchdog finds the store and the table.
 * Trust: the directory of the table belongs to the store's user. So nothing of
 *        it is read here. A store that removes its table is not started by the
 *        next watchdog; it harms only itself.
 */
#ifndef APPPOOL_WATCHDOG_STORE_WATCH_H
#define APPPOOL_WATCHDOG_STORE_WATCH_H

#include "watchdog/ward.h"

typedef struct {
    ward_t ward;
    int64_t start_at; /**< ms: when to start it; STORE_WATCH_NEVER */
    int stopping;     /**< it is not started again. 2: it was, to stop */
} store_watch_t;

#define STORE_WATCH_NEVER INT64_MAX

/** Nothing runs yet. The parameters are those of ward_begin(). */
void store_watch_begin(store_watch_t *s, const char *runtime, int dirfd,
                       const char *own_name);

/** There may be a new table: if there is one and no store runs, start the store
 * with the next store_watch_tick(). */
void store_watch_look(store_watch_t *s, int64_t now);

/** Do what is due: notice its end, check its heartbeat, start it. */
void store_watch_tick(store_watch_t *s, int64_t now);

/**
 * Stop the store, from now on. A store that died a moment ago is started for
 * that, because it saves what it holds when it stops. Call store_watch_tick()
 * until store_watch_runs() is 0.
 */
void store_watch_stop(store_watch_t *s, int64_t now);

int store_watch_runs(const store_watch_t *s);

#endif
