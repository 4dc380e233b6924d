/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file store_lines.h
 * @brief Reads the lines that the store sends. It is waited for no longer than
 *        a limit in all, and not only between two bytes. Time that the caller
 *        takes does not count: the reader of its output may be slow.
 *
 * Trust: the store may have been compromised. It may send any bytes, one now
 *        and then, or nothing.
 */
#ifndef APPPOOL_CTL_STORE_LINES_H
#define APPPOOL_CTL_STORE_LINES_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    int fd;
    int limit;   /* ms */
    size_t each; /* bytes for which the limit begins again; 0: never */
    int64_t waited;
    size_t got; /* since the limit began */
    size_t at, end;
    char bytes[4096];
} store_lines_t;

/** @param limit s to wait for all lines together
 *  @param each  not for all, but again after that many bytes; 0: for all */
void store_lines_begin(store_lines_t *, int fd, int limit, size_t each);

/** The next line, without its end. A line without room is given in parts.
 * @return 1; 0: the connection has ended; -1: the limit is reached */
int store_lines_next(store_lines_t *, char *line, size_t size);

#endif
