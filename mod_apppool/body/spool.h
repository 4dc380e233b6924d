/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file spool.h
 * @brief Bytes that have to wait for somebody slow: the first ones in
 *        memory, the rest in a temporary file.
 *
 * What was put in is got out in the same order, once, or again from the start
 * after apppool_store_rewind(). The file is in AppPoolSpoolDir, else in
 * $TMPDIR, else in /var/tmp: not in /tmp, which may be memory, too. It has no
 * name, so that nothing is left when httpd is killed.
 *
 * Lock:  none; a store belongs to one request.
 * Crash: the kernel frees the file with its last descriptor.
 * Trust: the directory may be anybody's; the file is made anew, readable for
 *        httpd's user alone.
 */
#ifndef MOD_APPPOOL_BODY_SPOOL_H
#define MOD_APPPOOL_BODY_SPOOL_H

#include <httpd.h>
#include <apr_buckets.h>

typedef struct apppool_store_t apppool_store_t;

/** As many bytes are usually kept in memory. */
#define APPPOOL_STORE_MEMORY (64 * 1024)

/** An empty one, of a request. @param most bytes in memory */
apppool_store_t *apppool_store_make(request_rec *r, apr_off_t most);

/** Where temporary files are made. */
const char *apppool_store_dir(void);

/**
 * Can temporary files be made in this directory?
 * @return NULL: it is one; or the sentence that says what is wrong
 */
const char *apppool_store_check(apr_pool_t *p, const char *dir);

/**
 * Append bytes.
 * @return APR_SUCCESS; or why the file cannot be made or written, ENOSPC above
 *         all: then none of them was appended
 */
apr_status_t apppool_store_put(apppool_store_t *store, const char *bytes,
                               apr_size_t count);

/** Has its file system less free than AppPoolSpoolFree? Looked at after each
 * megabyte of the file. */
int apppool_store_is_tight(apppool_store_t *store);

/** How many bytes were put in. */
apr_off_t apppool_store_size(const apppool_store_t *store);

/** How many of them were not got out yet. */
apr_off_t apppool_store_left(const apppool_store_t *store);

/**
 * Get the next bytes, as buckets in memory.
 * @param most how many; it may be fewer, but not none if any are left
 */
apr_status_t apppool_store_get(apppool_store_t *store, apr_bucket_brigade *bb,
                               apr_off_t most);

/**
 * Get all that is left, what is in the file as a bucket of it. Nothing may be
 * put in afterwards: the file may go with its bucket.
 */
void apppool_store_rest(apppool_store_t *store, apr_bucket_brigade *bb);

/** Get it from the start again. */
void apppool_store_rewind(apppool_store_t *store);

/** Forget all; give the room back. */
void apppool_store_clear(apppool_store_t *store);

#endif
