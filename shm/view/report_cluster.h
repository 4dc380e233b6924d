/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file report_cluster.h
 * @brief The other hosts in the report of the store (report_store.h): the role
 *        of this one, and its slaves.
 *
 * Lock:  none. The store goes on writing meanwhile.
 * Crash: not concerned. The figures of a store that has died stay until the
 *        next one has started.
 * Trust: the store may write anything into its figures. A role that does not
 *        exist is no cluster. An address that does not end, or has characters
 *        that no address has, is null.
 */
#ifndef APPPOOL_SHM_VIEW_REPORT_CLUSTER_H
#define APPPOOL_SHM_VIEW_REPORT_CLUSTER_H

#include <jansson.h>

#include "base/store_figures.h"

/** Describe the cluster. @return a new reference: an object; null if the store
 * is alone */
json_t *apl_report_cluster(const store_cluster_figures_t *);

#endif
