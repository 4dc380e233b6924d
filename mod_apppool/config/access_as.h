/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file access_as.h
 * @brief Asks the kernel what another user may do. For `httpd -t` only: the
 *        whole process is that user in between, so it must have one thread.
 *
 * Lock:  none.
 * Crash: not concerned.
 * Trust: nothing is opened.
 */
#ifndef MOD_APPPOOL_CONFIG_ACCESS_AS_H
#define MOD_APPPOOL_CONFIG_ACCESS_AS_H

#include <sys/types.h>

/** What the process was before. */
typedef struct {
    gid_t *groups;
    int n;
    gid_t gid;
} apppool_access_as_t;

/** Become this user, with the groups of this account. @return 0: not possible */
int apppool_access_as_begin(apppool_access_as_t *was, const char *name,
                            uid_t uid, gid_t gid);

/** Become root again. */
void apppool_access_as_end(apppool_access_as_t *was);

/**
 * Find what keeps the process from entering a directory.
 * @return NULL: it may enter, or the reason is another one; or the first
 *         directory of the path that it may not enter, made from `path`
 */
char *apppool_access_as_barrier(char *path);

#endif
