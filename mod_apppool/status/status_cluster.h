/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file status_cluster.h
 * @brief The part of the status page about the other hosts that have the store.
 *
 * Lock:  none.
 * Crash: nothing is held.
 * Trust: everything that comes from the store is escaped.
 */
#ifndef MOD_APPPOOL_STATUS_STATUS_CLUSTER_H
#define MOD_APPPOOL_STATUS_STATUS_CLUSTER_H

#include <httpd.h>
#include <jansson.h>

/** Write the section. @param cluster from the report; null: there is none */
void apppool_status_cluster(request_rec *r, const json_t *cluster);

#endif
