/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file instance.h
 * @brief What outlives a configuration: the segment, descriptors, the runtime
 *        directory, the watchdog.
 *
 * It is in memory that httpd keeps, as our own code is unloaded with each
 * configuration: it holds no pointer into our code or data. retained.h is the
 * part that other builds of the module read.
 *
 * Old instances of other builds, which wind down, share its AppPoolRuntimeDir
 * and the lock there. It then lives in a directory 1 to 99 in it, which the
 * link `current` names.
 *
 * Lock:  none; it is the parent's, and its children inherit it.
 * Crash: see lifecycle.h.
 * Trust: nothing is read from the segment.
 */
#ifndef MOD_APPPOOL_PARENT_INSTANCE_H
#define MOD_APPPOOL_PARENT_INSTANCE_H

#include <httpd.h>

#include "mod_apppool/parent/retained.h"
#include "shm/format/segment.h"

typedef struct {
    apppool_retained_t kept; /**< first: it is what other builds look at */
    apl_pool_t pool;
    apr_uint64_t name;
    apl_capacity_t capacity;
    char libexec[1024];
} apppool_instance_t;

/** The name of this build. Another build has an instance of its own. */
const char *apppool_instance_build(apr_pool_t *p);

/** The instance of this build. @return NULL: none yet, or none to go on with */
apppool_instance_t *apppool_instance_find(apr_pool_t *p);

/** The same; it is made if there is none. */
apppool_instance_t *apppool_instance_obtain(apr_pool_t *p);

/** Was it started? */
static inline int apppool_instance_is_open(const apppool_instance_t *i)
{
    return i->kept.runtime[0] != 0;
}

/** Where connections are parked (spawner/shared/parking.h); -1: nowhere. */
int apppool_instance_parking_lot(const apppool_instance_t *i);

/** Make all but the watchdog. What goes wrong is in the log. @return OK, or
 * !OK: then it is to be forgotten */
int apppool_instance_open(apppool_instance_t *i, server_rec *s,
                          apr_pool_t *ptemp);

/** At a graceful restart: warn of settings that it cannot change. */
void apppool_instance_warn_fixed(const apppool_instance_t *i, server_rec *s,
                                 apr_pool_t *ptemp);

/** Write the app table of this configuration. @return OK, !OK */
int apppool_instance_write_table(apppool_instance_t *i, server_rec *s,
                                 apr_pool_t *ptemp);

#endif
