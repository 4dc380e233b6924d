/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file region.h
 * @brief The memfds of items and of figures: mapped, checked, extents.
 *
 * Lock:  store_region_open: once, before the threads.
 * Errors: -1 and errno; EINVAL: this memfd has another format.
 */
#ifndef APPPOOL_STORE_MEMORY_REGION_H
#define APPPOOL_STORE_MEMORY_REGION_H

#include "base/store_figures.h"
#include "base/store_format.h"

/** Map both memfds. An empty items memfd becomes a directory without spaces.
 * The figures begin again, at 0. */
int store_region_open(int items_fd, int figures_fd);

/** Unmap directory and figures. The descriptors are the caller's. */
void store_region_close(void);

store_directory_t *store_region_directory(void);
store_figures_t *store_region_figures(void);

/** s since it was opened, whatever happens to the host's clock. */
uint64_t store_region_uptime(void);

/** Map the extent of a space. @return NULL: errno */
char *store_region_extent(unsigned slot);
void store_region_unmap(char *extent);

/** How many pages at the beginning of the extent may have memory; the others
 * have none. To look at a page without memory would give it some. */
uint32_t store_region_pages(unsigned slot);

/** Give memory back to the kernel: pages [first, first + n) of the extent. They
 * are zero then, also if the kernel does not take it. */
void store_region_punch(unsigned slot, uint32_t first, uint32_t n);

#endif
