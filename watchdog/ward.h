/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file ward.h
 * @brief A ward is a program that the watchdog starts, or finds running, and
 *        watches: the spawner, and the store. The watchdog checks its heartbeat
 *        and logs its end. libc only.
 *
 * Crash: the next watchdog finds the program by its file PID START.
 * Trust: root's files. The heartbeat of the store belongs to the store's user;
 *        only its time is used.
 */
#ifndef APPPOOL_WATCHDOG_WARD_H
#define APPPOOL_WATCHDOG_WARD_H

#include <limits.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/heartbeat.h"

/** What differs between the wards. */
typedef struct {
    const char *name;      /**< in the log */
    const char *program;   /**< its file */
    int program_fd;        /**< the program, open */
    unsigned withheld;     /**< descriptors that it does not get; bit n is
                                descriptor n */
    const char *pid_file;  /**< "PID START\n" */
    int has_signer;        /**< 1: the watchdog writes that file */
    const char *words;     /**< its stderr */
    const char *heartbeat; /**< see heartbeat.h */
    const char *oom_score; /**< NULL: it sets its own */
    int stop_checks;       /**< each second after SIGTERM: SIGKILL then. 0: the
                                heartbeat decides */
} ward_kind_t;

extern const ward_kind_t ward_spawner, ward_store;

typedef struct {
    const ward_kind_t *kind;
    const char *runtime; /**< the runtime directory */
    int dirfd;           /**< the runtime directory, open */
    char name[PATH_MAX]; /**< of the program, as ps shows it */
    pid_t pid;           /**< 0: none runs */
    int pidfd;           /**< POLLIN: it has ended; -1: none runs, or there was
                              no descriptor for a child of ours */
    int child;           /**< 1: ours, so waitid() tells how it ended */
    int served;          /**< one has run already */
    int64_t born;        /**< ms: when it was started, or found */
    int debt;            /**< deaths for which no life has paid */
    int last_pause;      /**< s: ward_pause() of the last death */
    heartbeat_t beat;
    int64_t check_at; /**< ms: the next check of its heartbeat */
    int is_stopping;  /**< it has to stop */
    int stop_checks;  /**< that of its kind, or what is configured */
    int unkillable;   /**< those that survived SIGKILL lately */
} ward_t;

/** None runs yet. @param own_name argv[0] of the watchdog: the program is
 * beside it */
void ward_begin(ward_t *w, const ward_kind_t *kind, const char *runtime,
                int dirfd, const char *own_name);

/** Find one that runs already. There can be only one, so call this before each
 * start. @return 1: found */
int ward_join(ward_t *w, int64_t now);

/**
 * Start the program.
 * @param stop 1: with the argument CONTRACT_STOP
 * @return 0, or -1: that was logged
 */
int ward_start(ward_t *w, int64_t now, int stop);

/** Has it ended? Then call ward_log_end(). SIGCHLD says when to check a program
 * that has no pidfd. */
int ward_has_ended(const ward_t *w);

/** Is this pid a child that ward_log_end() has to reap? */
int ward_is_child(const ward_t *w, pid_t pid);

/** Tell it to stop, also if it is stopped (SIGSTOP). */
void ward_stop(ward_t *w, int64_t now);

/**
 * Does its loop still run? If it has had no heartbeat for 30 s, or for 4 s when
 * it is to stop, it gets SIGKILL. Its death is then seen like any other. If it
 * has no heartbeat file (heartbeat.h), nothing is known about it, and it is
 * left alone. A ward with stop_checks has that time to stop, with or without a
 * heartbeat.
 * @return 1: it survives SIGKILL, so call ward_abandon()
 */
int ward_check(ward_t *w, int64_t now);

/** Leave a program that survives SIGKILL. It never runs again: ward_join() does
 * not find it, and the next one takes over what it has.
 * @return ms until the next start. Each such program keeps its memory, so the
 * wait gets longer each time */
int64_t ward_abandon(ward_t *w, int64_t now);

/**
 * It has ended: log how, unless it has stopped because it was asked to, wants
 * to be started again, or was replaced.
 * @param asked 1: it was asked to stop
 * @return its exit code; -1: a signal, or not known
 */
int ward_log_end(ward_t *w, int asked);

/**
 * After its end: when is the next start? At once. But after more than five
 * deaths in a row, each start waits a second longer than the last one, up to
 * ten seconds. Two seconds of life make up for one death. Exit code
 * CONTRACT_EXIT_AGAIN is no death, unless it comes within two seconds.
 * @param code of ward_log_end()
 * @return ms from now
 */
int64_t ward_pause(ward_t *w, int code, int64_t now);

#endif
