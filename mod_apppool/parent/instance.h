/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file instance.h
 * @brief What stays when the configuration is read again: the segment, the
 *        store's memory, descriptors, the runtime directory, the watchdog.
 *
 * It is in memory that httpd keeps, because our own code is unloaded with each
 * configuration. So it contains no pointer into our code or data. retained.h is
 * the part that other builds of the module read.
 *
 * Old instances of other builds, which wind down, share its AppPoolRuntimeDir
 * and the lock there. It then lives in a directory 1 to 99 in it, which the
 * link `current` names.
 *
 * Lock:  none. It belongs to the parent, and the children inherit it.
 * Crash: see lifecycle.c.
 * Trust: nothing is read from the segment.
 */
#ifndef MOD_APPPOOL_PARENT_INSTANCE_H
#define MOD_APPPOOL_PARENT_INSTANCE_H

#include <httpd.h>

#include "mod_apppool/parent/retained.h"
#include "shm/format/segment.h"

typedef struct {
    apppool_retained_t kept; /**< first: other builds read it */
    apl_pool_t pool;
    apr_uint64_t name;
    apl_capacity_t capacity;
    char libexec[1024];
    apppool_retained_t *store_from; /**< its store has to end when ours has a
                                       table; NULL: none */
    int has_store;                  /**< a table for the store was written */
    int store_error;                /**< errno: its memory could not be made */
} apppool_instance_t;

/** A descriptor that the watchdog of the instance gets as
 * CONTRACT_..._FD. */
#define APPPOOL_INSTANCE_FD(i, which)                                          \
    ((i)->kept.fds[CONTRACT_##which##_FD - CONTRACT_LIFE_FD])

/** The name of this build. Another build has an instance of its own. */
const char *apppool_instance_build(apr_pool_t *p);

/** The instance of this build. @return NULL: none yet, or none that can be
 * used */
apppool_instance_t *apppool_instance_find(apr_pool_t *p);

/** The instance of this build, which is made if there is none. */
apppool_instance_t *apppool_instance_obtain(apr_pool_t *p);

/** Was it started? */
static inline int apppool_instance_is_open(const apppool_instance_t *i)
{
    return i->kept.runtime[0] != 0;
}

/** Where connections are parked (base/parking.h); -1: nowhere. */
int apppool_instance_parking_lot(const apppool_instance_t *i);

/** Make all parts except the watchdog. Errors are in the log. @return OK, or
 * !OK: then forget the instance */
int apppool_instance_open(apppool_instance_t *i, server_rec *s,
                          apr_pool_t *ptemp);

/** At a graceful restart, if the directory was removed: make it again. Nothing
 * runs in it any more (apppool_watchdogs_end_lost()). The segment and the items
 * of the store stay. @return NULL, or the sentence that says what is wrong */
const char *apppool_instance_renew_dir(apppool_instance_t *i,
                                       apr_pool_t *ptemp);

/** At a graceful restart: log a warning about settings that it cannot
 * change. */
void apppool_instance_warn_fixed(const apppool_instance_t *i, server_rec *s,
                                 apr_pool_t *ptemp);

/** Write the app table of this configuration. @return OK, !OK */
int apppool_instance_write_table(apppool_instance_t *i, server_rec *s,
                                 apr_pool_t *ptemp);

/* ---- its store ---- */

/** Make the parts of the store (store_parts.h), after apppool_instance_open().
 * If that fails, it is an error only where a space is configured. */
void apppool_instance_store_open(apppool_instance_t *i);

/** Write the table, if there is a store or one is wanted, and ring its bell.
 * Errors are in the log. @return 1: there is a new table */
int apppool_instance_store_write_table(apppool_instance_t *i, server_rec *s,
                                       apr_pool_t *ptemp);

/** Have the store end that this instance takes over, if there is one. The
 * tables of store and apps have to be there: an instance without them is
 * forgotten. */
void apppool_instance_store_replace(apppool_instance_t *i);

#endif
