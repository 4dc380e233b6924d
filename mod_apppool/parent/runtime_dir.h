/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file runtime_dir.h
 * @brief The runtime directory and its lock: one httpd, one directory.
 *
 * While an old instance of another build winds down, a second one lives in a
 * directory 1 to 99 in it.
 *
 * Lock:  the parent has an flock on the file `lock` in it. Watchdogs and
 *        spawners have it, too, because they inherit the descriptor. The lock
 *        is free when all of them have ended.
 * Crash: the helper programs of an httpd that was killed keep the lock until
 *        they have cleaned up. The next httpd waits for that.
 * Trust: it belongs to the user who starts httpd. No other user may write in
 *        it, and it is no symbolic link.
 */
#ifndef MOD_APPPOOL_PARENT_RUNTIME_DIR_H
#define MOD_APPPOOL_PARENT_RUNTIME_DIR_H

#include <httpd.h>

/** Where the directory is. @return NULL: not a path */
const char *apppool_runtime_dir_path(apr_pool_t *p,
                                     const server_rec *main_server);

/**
 * Can this be the directory? This changes nothing.
 * @return NULL: yes; or the sentence that says why not
 */
const char *apppool_runtime_dir_check(apr_pool_t *p, const char *path);

/** Make the directory, or use an existing one. @return NULL, or why not */
const char *apppool_runtime_dir_make(apr_pool_t *p, const char *path);

/**
 * Take the lock. This waits for a dying httpd, and then the log says so.
 * @param limit at most that long, us
 * @param lock descriptor of the lock file, close-on-exec
 * @return NULL, or the sentence that says what is wrong
 */
const char *apppool_runtime_dir_lock(apr_pool_t *p, const char *base,
                                     apr_interval_time_t limit, int *lock);

/** Has somebody removed the directory in which this lock was taken?
 * @param lock -1: yes */
int apppool_runtime_dir_is_lost(const char *base, int lock);

/** Place `n` for an instance: base, base/1 ... @return NULL: no such place */
const char *apppool_runtime_dir_place(apr_pool_t *p, const char *base, int n);

/** Make base/current lead to the place of the newest instance. */
void apppool_runtime_dir_point(apr_pool_t *p, const char *base,
                               const char *place);

/** Is the directory not empty? @param below it is a directory in the base */
int apppool_runtime_dir_has_leftovers(apr_pool_t *p, const char *path,
                                      int below);

/** Remove what the parent made for an instance. */
void apppool_runtime_dir_clear(const char *runtime, int below);

/** Remove the rest: the lock, and the directory itself, unless the
 * administrator has named it. */
void apppool_runtime_dir_remove(const char *base);

#endif
