/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file http_chunk.h
 * @brief Read what stands between the chunks of a body (RFC 9112, section 7.1):
 *        the size of each one, and the trailer behind the last one.
 *
 *     while (!chunk.ended && chunk.left == 0)
 *         wrong = apppool_http_chunk_see(&chunk, pool, the next byte);
 *     ... use chunk.left bytes, and subtract them
 *
 * Each line ends with CR and LF. Extensions of a chunk are ignored, but they have
 * at most 1 KB.
 *
 * Lock:  none; it belongs to one request.
 * Crash: not concerned.
 * Trust: the app may send any bytes.
 */
#ifndef MOD_APPPOOL_BACKEND_HTTP_CHUNK_H
#define MOD_APPPOOL_BACKEND_HTTP_CHUNK_H

#include <apr_pools.h>

#define APPPOOL_HTTP_TRAILER (8 * 1024) /**< bytes, at most */

/** Zeroed at first. */
typedef struct {
    apr_off_t left;          /**< bytes of the chunk that have not come */
    int ended;               /**< the trailer has ended */
    char *trailer;           /**< its lines */
    apr_size_t trailer_size; /**< bytes; 0: there is none */
    /* Only http_chunk.c uses the rest. */
    int state;
    int digits; /* of the size */
    int line;   /* bytes behind it */
    apr_off_t size;
} apppool_http_chunk_t;

/**
 * See a byte that belongs to no chunk.
 * @param pool for the trailer
 * @return NULL; or what is wrong, a constant
 */
const char *apppool_http_chunk_see(apppool_http_chunk_t *chunk,
                                   apr_pool_t *pool, char c);

#endif
