/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file log_rules.h
 * @brief What the spawner and the program of a log (log_program.h) agree on:
 *        how a route begins, what it is called in a line of the error log, and
 *        how much an app may print there.
 *
 * Crash:  the token bucket is full again in the next spawner.
 */
#ifndef APPPOOL_SPAWNER_OUTPUT_LOG_RULES_H
#define APPPOOL_SPAWNER_OUTPUT_LOG_RULES_H

#include <stddef.h>

#include "base/token_bucket.h"

/** First byte of a route: a command; the ErrorLog of a virtual host. */
#define LOG_PROGRAM_PIPE     '|'
#define LOG_PROGRAM_ERRORLOG '='

typedef char log_name_t[512];

/** @return `name` */
const char *log_rules_name(const char *route, log_name_t name);

/** Maximum bytes of a line in the log, with time and name. */
#define LOG_RULES_LINE_MAX (4 * 8192 + 256)

/** May a line of this length be written now? Takes its cost from the bucket.
 * Into an error log an app may print less, because all apps share that.
 * @param own    1: the line goes to AppLog; 0: to an error log
 * @param now    us
 * @param length bytes */
int log_rules_allow(token_bucket_t *bucket, int own, int64_t now,
                    size_t length);

#endif
