/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file spawner_watch.h
 * @brief The watchdog starts the spawner or finds one that runs, watches its
 *        heartbeat, and logs its end. libc only.
 *
 * Crash: the next watchdog finds the spawner by the file CONTRACT_SPAWNER.
 * Trust: root's files.
 */
#ifndef APPPOOL_SPAWNER_WATCHDOG_SPAWNER_WATCH_H
#define APPPOOL_SPAWNER_WATCHDOG_SPAWNER_WATCH_H

#include <limits.h>
#include <stdint.h>
#include <sys/types.h>

#include "spawner/shared/heartbeat.h"

typedef struct {
    const char *runtime; /**< the runtime directory */
    int dirfd;           /**< the same, open */
    char name[PATH_MAX]; /**< of the program, as ps shows it */
    pid_t pid;           /**< 0: none runs */
    int pidfd;           /**< POLLIN: it has ended; -1: none runs, or there was
                              no descriptor for a child of ours */
    int child;           /**< 1: ours, so waitid() tells how it ended */
    int served;          /**< a spawner has run already */
    int64_t born;        /**< ms: when it was started, or found */
    int debt;            /**< deaths for which no life has paid */
    int last_pause;      /**< s: spawner_watch_pause() of the last death */
    heartbeat_t beat;
    int64_t check_at; /**< ms: the next check of its heartbeat */
    int is_stopping;  /**< it was told to stop */
    int unkillable;   /**< spawners that survived SIGKILL lately */
} spawner_watch_t;

/** Find a spawner that runs already. There can be only one, so call this
 * before each start. @return 1: found */
int spawner_watch_join(spawner_watch_t *w, int64_t now);

/**
 * Start a spawner.
 * @param stop 1: it ends all applications, then itself
 * @return 0, or -1: that was logged
 */
int spawner_watch_start(spawner_watch_t *w, int64_t now, int stop);

/** Has it ended? Then spawner_watch_log_end() is due. SIGCHLD says when to look
 * at one that has no pidfd. */
int spawner_watch_has_ended(const spawner_watch_t *w);

/** Tell it to stop, also if it is stopped (SIGSTOP). */
void spawner_watch_stop(spawner_watch_t *w, int64_t now);

/**
 * Does it still turn its loop? If it has had no heartbeat for 30 s, or for 4 s
 * when it is to stop, it gets SIGKILL. Its death is then seen like any other.
 * If it has no heartbeat file (heartbeat.h), nothing is known of it, and it is
 * left alone.
 * @return 1: it survives SIGKILL, so it is to be left: spawner_watch_abandon()
 */
int spawner_watch_check(spawner_watch_t *w, int64_t now);

/** Leave a spawner that survives SIGKILL. It never runs again:
 * spawner_watch_join() does not find it, and the next spawner takes over its
 * registry. @return ms until the next start. Each such spawner keeps its
 * memory, so the wait gets longer each time */
int64_t spawner_watch_abandon(spawner_watch_t *w, int64_t now);

/**
 * It has ended: log how, unless it has stopped as it was told.
 * @param asked 1: it was told to stop
 * @return its exit code; -1: a signal, or not known
 */
int spawner_watch_log_end(spawner_watch_t *w, int asked);

/**
 * After its death: when is the next start? At once; but a spawner that died
 * more than five times in a row waits, a second longer each time, up to ten.
 * Two seconds of life make up for one death.
 * @return ms from now
 */
int64_t spawner_watch_pause(spawner_watch_t *w, int64_t now);

#endif
