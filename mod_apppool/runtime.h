/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file runtime.h
 * @brief The runtime directory and its lock: one httpd, one directory.
 *
 * Lock:  the file `lock` in it is flock'ed by the parent, and through the
 *        inherited descriptor by the watchdog and the spawner: it is free
 *        when all three are gone.
 * Crash: what an httpd that was killed left behind holds the lock until it
 *        has cleaned up; the next one waits for that.
 * Trust: it belongs to the user who starts httpd, nobody else may write in
 *        it, and it is no symbolic link.
 */
#ifndef APPPOOL_RUNTIME_H
#define APPPOOL_RUNTIME_H

#include <httpd.h>

/** Where the directory is. @return NULL: not a path */
const char *apppool_runtime_path(apr_pool_t *p, const server_rec *main_server);

/** Is the path short enough? @return NULL: yes; or the sentence that says no */
const char *apppool_runtime_check(apr_pool_t *p, const char *path);

/**
 * Make the directory, or check the one that is there, and take its lock.
 * Waits for a dying httpd; says so in the log.
 * @param lock descriptor of the lock file, above 20, close-on-exec
 * @return NULL, or the sentence that says what is wrong
 */
const char *apppool_runtime_open(apr_pool_t *p, const char *path, int *lock);

/** Remove what the parent made: table, lock, a directory not named by the
 * administrator. */
void apppool_runtime_remove(const char *path);

#endif
