/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file line_limit.h
 * @brief How much an app may print into its AppLog. Into an error log it may
 *        print less, because all apps share that.
 *
 * Crash:  the token bucket is full again in the next spawner.
 * Trust:  not concerned.
 */
#ifndef APPPOOL_SPAWNER_OUTPUT_LINE_LIMIT_H
#define APPPOOL_SPAWNER_OUTPUT_LINE_LIMIT_H

#include <stddef.h>

#include "base/token_bucket.h"

/** Maximum bytes of a line in the log, with time and name. */
#define LINE_LIMIT_MAX (4 * 8192 + 256)

/** May a line of this length be written now? Takes its cost from the bucket.
 * @param own    1: the line goes to AppLog; 0: to an error log
 * @param now    us
 * @param length bytes */
int line_limit_allows(token_bucket_t *bucket, int own, int64_t now,
                      size_t length);

#endif
