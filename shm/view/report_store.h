/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file report_store.h
 * @brief The store in the report (report.h): its spaces, what was done with
 *        them since it was started, and its role among other hosts.
 *
 * Lock:  none: the store goes on counting meanwhile, so two numbers may differ
 *        by some operations.
 * Crash: the figures of a store that has died stay until the next one has
 *        started.
 * Trust: the store may write anything into its figures. No length and no index
 *        is read from them. A space whose name does not end, has a control
 *        character or was there before is left out. A role that does not
 *        exist is no cluster. An address that does not end, or has characters
 *        that no address has, is null.
 */
#ifndef APPPOOL_SHM_VIEW_REPORT_STORE_H
#define APPPOOL_SHM_VIEW_REPORT_STORE_H

#include <jansson.h>

#include "base/store_figures.h"

/**
 * Describe the store.
 * @param f the mapped figures, STORE_FIGURES_SIZE bytes; or NULL
 * @return a new reference: an object; null if no store has written figures of
 *         this version
 */
json_t *apl_report_store(const store_figures_t *f);

/** Describe the cluster. @return a new reference: an object; null if the store
 * is alone */
json_t *apl_report_cluster(const store_cluster_figures_t *f);

#endif
