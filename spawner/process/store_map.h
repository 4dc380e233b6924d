/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file store_map.h
 * @brief Maps the figures of the store, for the status.
 *
 * Trust: the store can write them. It cannot make the memory smaller, so a read
 *        never fails. apl_report_store() reads them.
 */
#ifndef APPPOOL_SPAWNER_PROCESS_STORE_MAP_H
#define APPPOOL_SPAWNER_PROCESS_STORE_MAP_H

#include "base/store_figures.h"

/**
 * Map them read-only, until the program ends.
 * @param fd the memfd
 * @return NULL: there are none
 */
const store_figures_t *store_map(int fd);

#endif
