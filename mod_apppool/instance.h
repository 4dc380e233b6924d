/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file instance.h
 * @brief What of ours outlives a configuration: the segment, descriptors, the
 *        runtime directory, the watchdog's pid.
 *
 * It is kept in memory that httpd keeps (ap_retained_data_create()), as our
 * own code is unloaded with each configuration: it holds no pointer into our
 * code or data. Another build of the module, loaded by a graceful restart,
 * looks at the first four fields only.
 *
 * Lock:  none; the parent's, and inherited by its children as it was.
 * Crash: see lifecycle.h.
 * Trust: nothing is read from the segment.
 */
#ifndef APPPOOL_INSTANCE_H
#define APPPOOL_INSTANCE_H

#include <httpd.h>

#include "mod_apppool/helper.h"
#include "shm/segment.h"
#include "spawner/contract.h"

typedef struct {
    apr_uint64_t build;   /**< which build of the module wrote it */
    apr_int64_t watchdog; /**< pid; 0: none runs */
    apr_int64_t grace;    /**< largest AppStopTimeout so far, us */
    apr_int64_t lock;     /**< of the runtime directory; -1: none */

    apl_pool_t *pool; /**< NULL: nothing was started */
    pid_t parent_pid; /**< httpd's parent */
    apr_time_t since; /**< when the watchdog was started */
    int rapid;        /**< watchdogs in a row that died at once */
    int hard;         /**< a hard restart is under way */
    apr_uint64_t name;
    apl_capacity_t capacity;
    int life[2]; /**< pipe: read end, write end */
    apppool_helper_fds_t fds;
    char runtime[CONTRACT_RUNTIME_MAX + 1];
    char libexec[1024];
} apppool_instance_t;

/** The one of this httpd. @return NULL: none yet, or another build's */
apppool_instance_t *apppool_instance_find(void);

/** The same; made, if there is none; another build's is ended first. */
apppool_instance_t *apppool_instance_obtain(void);

/** Make all but the watchdog. What goes wrong is in the log. @return OK, !OK */
int apppool_instance_open(apppool_instance_t *i, server_rec *s,
                          apr_pool_t *ptemp);

/** Graceful: say what a new configuration cannot change. */
void apppool_instance_keep(const apppool_instance_t *i, server_rec *s,
                           apr_pool_t *ptemp);

/** Write the app table of this configuration. @return OK, !OK */
int apppool_instance_tell(apppool_instance_t *i, server_rec *s,
                          apr_pool_t *ptemp);

/** End everything; waits for the watchdog. */
void apppool_instance_close(apppool_instance_t *i);

/** In a child: close what is the parent's alone. */
void apppool_instance_inherit(apppool_instance_t *i);

#endif
