/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file class.h
 * @brief The sizes of chunks. They are part of the format.
 *
 * A size is about an eighth more than the one before, and as large as the
 * number of chunks in a page allows.
 *
 * Lock:  none.
 */
#ifndef APPPOOL_STORE_MEMORY_CLASS_H
#define APPPOOL_STORE_MEMORY_CLASS_H

#include <stdint.h>

#include "base/store_format.h"

#define STORE_CLASSES   38
#define STORE_CHUNK_MAX 8184

/** Bytes of a chunk; multiples of STORE_UNIT. */
extern const uint16_t store_class_size[STORE_CLASSES];

/** The smallest class for that many bytes, at most STORE_CHUNK_MAX. */
unsigned store_class_of(uint32_t bytes);

/** Chunks of a page. */
static inline uint32_t store_class_chunks(unsigned class_)
{
    return (STORE_PAGE - (uint32_t)sizeof(store_page_t)) /
           store_class_size[class_];
}

#endif
