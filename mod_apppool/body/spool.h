/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file spool.h
 * @brief Stores bytes for a slow client or of a slow upload: the first ones in
 *        memory, the rest in a temporary file.
 *
 * The bytes come out in the order in which they went in: once, or again from
 * the start after apppool_spool_rewind(). The file has no name
 * (body/spool_file.h). It ends with the pool of the request.
 *
 * Crash: nothing is left when httpd is killed.
 */
#ifndef MOD_APPPOOL_BODY_SPOOL_H
#define MOD_APPPOOL_BODY_SPOOL_H

#include <httpd.h>
#include <apr_buckets.h>

typedef struct apppool_spool_t apppool_spool_t;

/** The number of bytes that are usually kept in memory. */
#define APPPOOL_SPOOL_MEMORY (64 * 1024)

/** The number of bytes that are written to the file, and read from it, at a
 * time. A spool with a file has one buffer of this size. */
#define APPPOOL_SPOOL_PIECE  (64 * 1024)

/** Make an empty one for a request. @param most bytes in memory */
apppool_spool_t *apppool_spool_make(request_rec *r, apr_off_t most);

/**
 * Append bytes.
 * @return APR_SUCCESS; or why the file cannot be made or written, such as
 *         ENOSPC: then none of the bytes was appended
 */
apr_status_t apppool_spool_put(apppool_spool_t *spool, const char *bytes,
                               apr_size_t count);

/** Is less of its file system free than AppPoolSpoolFree? This is checked after
 * each megabyte of the file. */
int apppool_spool_is_tight(apppool_spool_t *spool);

/** How many bytes went in? */
apr_off_t apppool_spool_size(const apppool_spool_t *spool);

/** How many of them have not come out yet? */
apr_off_t apppool_spool_left(const apppool_spool_t *spool);

/**
 * Get the next bytes, as buckets in memory.
 * @param most how many; it may be fewer, but at least one if any are left.
 *        Those of the file are at most APPPOOL_SPOOL_PIECE
 */
apr_status_t apppool_spool_get(apppool_spool_t *spool, apr_bucket_brigade *bb,
                               apr_off_t most);

/**
 * Get everything that is left. Bytes in the file come as a file bucket. No
 * bytes may be added afterwards.
 * @return APR_SUCCESS; or why the file cannot be passed on, such as EMFILE
 */
apr_status_t apppool_spool_get_rest(apppool_spool_t *spool,
                                    apr_bucket_brigade *bb);

/** Begin again with the first byte. */
void apppool_spool_rewind(apppool_spool_t *spool);

/** Forget all bytes, and give the room back. */
void apppool_spool_clear(apppool_spool_t *spool);

#endif
