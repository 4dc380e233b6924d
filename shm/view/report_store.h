/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file report_store.h
 * @brief The store in the report (report.h): its spaces, and what was done with
 *        them since it was started.
 *
 * Lock:  none. The store goes on counting meanwhile, so two numbers may differ
 *        by some operations.
 * Crash: not concerned. The figures of a store that has died stay until the
 *        next one has started.
 * Trust: the store may write anything into its figures. No length and no index
 *        is read from them. A space whose name does not end, has a control
 *        character or was there before is left out.
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

#endif
