/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file lifecycle.h
 * @brief The life of our instance: it starts, stays and ends with httpd. The
 *        parent starts the watchdog again, and each child joins the pool.
 *
 *     start      runtime directory, lock, segment, app table, watchdog
 *     graceful   all of that stays; a new app table, and the doorbell rings (of
 *                another build: as at the start; the old instance winds down)
 *     restart    the watchdog ends everything, then as at the start
 *     stop       the same; httpd waits for it
 *
 * instance.h says what stays. Nothing starts before the first configuration
 * with an AppRoot. `httpd -t` and `httpd -k` touch nothing.
 *
 * Lock:  the parent never takes the pool lock.
 * Crash: watchdog killed: the parent starts another within two seconds.
 *        Parent killed: the watchdog sees it by its pidfd, and then waits for
 *        the end of the life pipe. Child killed: the spawner sees it by its
 *        pidfd. A child of prefork ends in its signal handler, wherever it was,
 *        maybe with the pool lock held. So it does not touch the pool when it
 *        ends. Its end is like a kill.
 * Trust: the parent reads nothing from the segment.
 */
#ifndef MOD_APPPOOL_PARENT_LIFECYCLE_H
#define MOD_APPPOOL_PARENT_LIFECYCLE_H

#include <httpd.h>

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
