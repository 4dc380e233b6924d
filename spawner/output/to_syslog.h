/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file to_syslog.h
 * @brief Lines for a virtual host whose ErrorLog is syslog. libc only.
 *
 * This file does not include log.h, because <syslog.h> and log.h use the same
 * names for levels.
 *
 * Errors: lines that syslog does not take are lost.
 */
#ifndef APPPOOL_SPAWNER_OUTPUT_TO_SYSLOG_H
#define APPPOOL_SPAWNER_OUTPUT_TO_SYSLOG_H

#include <stddef.h>

/**
 * Write lines of the error log. Each has the level that it names. Its time is
 * left out, because syslog adds one.
 * @param where as in ErrorLog: syslog[:[FACILITY][:TAG]]
 */
void to_syslog_write(const char *where, const char *text, size_t length);

#endif
