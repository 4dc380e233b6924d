/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file fcgi_stderr.h
 * @brief What a FastCGI app sends as STDERR: lines of httpd's error log. They
 *        look like the lines that an app prints.
 *
 * A line that is longer than APPPOOL_FCGI_STDERR_LINE becomes several. A
 * request writes at most APPPOOL_FCGI_STDERR_LINES lines, so an app cannot fill
 * the disk by one request. The last line says how many more there were.
 *
 * Lock:  none; it belongs to one request.
 * Crash: a line that is not complete is lost.
 * Trust: the text may be any bytes; httpd escapes control characters.
 */
#ifndef MOD_APPPOOL_BACKEND_FCGI_STDERR_H
#define MOD_APPPOOL_BACKEND_FCGI_STDERR_H

#include <httpd.h>

#define APPPOOL_FCGI_STDERR_LINE  2000 /**< bytes */
#define APPPOOL_FCGI_STDERR_LINES 200

/** The caller sets the first one; the rest is zeroed. */
typedef struct {
    const char *label; /**< of the app, with the pid in brackets */
    char *line;        /**< that is not complete; NULL at first */
    apr_size_t size;   /**< of it */
    unsigned lines;    /**< lines that the app has sent */
} apppool_fcgi_stderr_t;

void apppool_fcgi_stderr_add(apppool_fcgi_stderr_t *err, request_rec *r,
                             const char *bytes, apr_size_t n);

/** No more comes. */
void apppool_fcgi_stderr_end(apppool_fcgi_stderr_t *err, request_rec *r);

#endif
