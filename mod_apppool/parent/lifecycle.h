/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file lifecycle.h
 * @brief When our instance starts, stays and ends with httpd, and who starts
 *        the watchdog again. And each httpd child's membership.
 *
 *     start      runtime directory, lock, segment, table, watchdog
 *     graceful   all of that stays; a new table, and a ring for the spawner
 *                (of another build: as at the start, and the old one drains)
 *     restart    the watchdog ends everything, then as at the start
 *     stop       the same; httpd waits for it
 *
 * What stays is in instance.h. Nothing starts before the first configuration
 * with an AppRoot. `httpd -t` and `httpd -k` touch nothing.
 *
 * Lock:  the parent never takes the pool lock.
 * Crash: watchdog killed: the parent starts another within a second or two.
 *        Parent killed: the watchdog sees its pidfd and the life pipe end.
 *        Child killed: the spawner sees its pidfd. A child of prefork ends in
 *        its signal handler, wherever it was, maybe with the pool lock held;
 *        so it does nothing about the pool when it ends, which is the same
 *        case as being killed.
 * Trust: the parent reads nothing from the segment.
 */
#ifndef MOD_APPPOOL_PARENT_LIFECYCLE_H
#define MOD_APPPOOL_PARENT_LIFECYCLE_H

#include <httpd.h>

#include "shm/format/segment.h"

/** The pool, in an httpd child that may use it. @return NULL: there is none */
apl_pool_t *apppool_lifecycle_pool(void);

/** The runtime directory. */
const char *apppool_lifecycle_runtime(void);

/** Is this child on its way out, so that the pool lock is not to be taken? */
int apppool_lifecycle_child_is_dying(void);

/* The hooks. */
int apppool_lifecycle_pre_config(apr_pool_t *pconf, apr_pool_t *plog,
                                 apr_pool_t *ptemp);
int apppool_lifecycle_check_config(apr_pool_t *pconf, apr_pool_t *plog,
                                   apr_pool_t *ptemp, server_rec *s);
int apppool_lifecycle_post_config(apr_pool_t *pconf, apr_pool_t *plog,
                                  apr_pool_t *ptemp, server_rec *s);
int apppool_lifecycle_monitor(apr_pool_t *p, server_rec *s);
void apppool_lifecycle_child_init(apr_pool_t *pchild, server_rec *s);
void apppool_lifecycle_child_stopping(apr_pool_t *pchild, int graceful);

#endif
