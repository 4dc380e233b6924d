/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file header_size.h
 * @brief How long is the header of a response, and which of its fields is the
 *        longest? A header has the same limit over all protocols, whoever
 *        reads it: 64 KB, all its lines together.
 *
 * Trust: the bytes are the app's. A name that is to be logged has only
 *        characters of a token, and not many.
 */
#ifndef MOD_APPPOOL_BACKEND_HEADER_SIZE_H
#define MOD_APPPOOL_BACKEND_HEADER_SIZE_H

#include <apr_pools.h>

#define APPPOOL_HEADER_MOST  (64 * 1024) /**< bytes */
#define APPPOOL_HEADER_NAMES 40          /**< bytes of a name, at most */

/** Zeroed at first. */
typedef struct {
    apr_size_t size; /**< of all lines so far */
    int has_ended;   /**< what comes does not belong to it */
    /* Only this file uses the rest. */
    apr_size_t line, longest; /* bytes: of the field that comes, of another */
    apr_size_t of_row;        /* bytes since the last end of a line */
    unsigned names_left;      /* bytes that may still belong to the name */
    char name[APPPOOL_HEADER_NAMES + 1], longest_name[APPPOOL_HEADER_NAMES + 1];
} apppool_header_size_t;

/** The next bytes: lines of the header, or parts of lines. Behind its end, only
 * another header counts, because the first may be that of an interim response.
 * @return 1: it is longer than APPPOOL_HEADER_MOST */
int apppool_header_size_add(apppool_header_size_t *header, const char *bytes,
                            apr_size_t n);

/** A sentence for the log: it is too long, and which field is the longest. */
const char *apppool_header_size_wrong(apppool_header_size_t *header,
                                      apr_pool_t *p);

#endif
