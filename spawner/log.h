/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file log.h
 * @brief Lines for httpd's error log, in its own style. libc only.
 *
 *     [Sat Nov 21 06:54:17.123456 2026] [apppool:notice] [pid 12] apppool: ...
 *
 * The log is found by the symbolic link `errorlog` of the runtime directory
 * and opened for each line, so it may be rotated at any time. Where that
 * cannot be opened (it is too early, say) lines go to CONTRACT_LOG_FD.
 *
 * Trust: what a line is made of may come from anywhere; control characters
 *        are written as \xNN, so one call is one line.
 */
#ifndef APPPOOL_LOG_H
#define APPPOOL_LOG_H

#include <stddef.h>

enum { LOG_ERROR, LOG_WARN, LOG_NOTICE, LOG_INFO };

/** The open runtime directory. */
void log_directory(int fd);

/** Write one line; cut off where it gets longer than LOG_MAX. */
void log_line(int level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#define LOG_MAX 2048

/** The error log to append to, or -1. The caller closes it. */
int log_open(void);

/**
 * Copy text so that it stays on one line.
 * @return bytes written to `to`, without the NUL; less than size
 */
size_t log_escape(char *to, size_t size, const char *from, size_t length);

/** Beginning of a line of httpd's log: "[time] ". @return its length */
size_t log_time(char *to, size_t size);

#endif
