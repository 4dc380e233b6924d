/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file fcgi_stderr.h
 * @brief What a FastCGI app sends as STDERR: lines that look like those that an
 *        app prints. PHP's errors come this way.
 *
 * With AppLog, the lines are given to the spawner, which writes them there.
 * Without AppLog, they are lines of httpd's error log, with the client of the
 * request, and the spawner gets them for apppoolctl logs. If the spawner does
 * not take them in time, they are lines of the error log in any case.
 *
 * A line that is longer than APPPOOL_FCGI_STDERR_LINE becomes several. A
 * request writes at most APPPOOL_FCGI_STDERR_LINES lines, so an app cannot fill
 * the disk by one request. The last line says how many more there were.
 *
 * Lock:  the pool lock, as shm/verbs/app_stderr.h says.
 * Crash: a line that is not complete is lost.
 * Trust: the text may be any bytes; httpd and the spawner escape control
 *        characters.
 */
#ifndef MOD_APPPOOL_BACKEND_FCGI_STDERR_H
#define MOD_APPPOOL_BACKEND_FCGI_STDERR_H

#include <httpd.h>

#include "shm/verbs/app_stderr.h"

#define APPPOOL_FCGI_STDERR_LINE  2000 /**< bytes */
#define APPPOOL_FCGI_STDERR_LINES 200

/** The caller sets the first four; the rest is zeroed. */
typedef struct {
    const char *label; /**< of the app, with the pid in brackets */
    apl_pool_t *pool;
    uint64_t id;     /**< of the process */
    int has_log;     /**< the app has an AppLog */
    char *line;      /**< that is not complete; NULL at first */
    apr_size_t size; /**< of it */
    unsigned lines;  /**< lines that the app has sent */
    char *batch;     /**< lines for the spawner; NULL at first */
    apr_size_t used; /**< bytes of it */
} apppool_fcgi_stderr_t;

void apppool_fcgi_stderr_add(apppool_fcgi_stderr_t *err, request_rec *r,
                             const char *bytes, apr_size_t n);

/** No more comes. */
void apppool_fcgi_stderr_end(apppool_fcgi_stderr_t *err, request_rec *r);

#endif
