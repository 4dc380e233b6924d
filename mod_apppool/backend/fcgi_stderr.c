/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/backend/fcgi_stderr.h"

#include <http_log.h>
#include <string.h>

APLOG_USE_MODULE(apppool);

#define SAY(r, ...)                                                            \
    ap_log_rerror(APLOG_MARK, APLOG_ERR, 0, r, "apppool: " __VA_ARGS__)

static void end_line(apppool_fcgi_stderr_t *err, request_rec *r)
{
    apr_size_t n = err->size;

    if (n > 0 && err->line[n - 1] == '\r')
        n--;
    err->size = 0;
    if (n == 0)
        return;
    if (err->lines++ < APPPOOL_FCGI_STDERR_LINES)
        SAY(r, "%s> %.*s", err->label, (int)n, err->line);
}

void apppool_fcgi_stderr_add(apppool_fcgi_stderr_t *err, request_rec *r,
                             const char *bytes, apr_size_t n)
{
    apr_size_t i;

    if (!err->line)
        err->line = apr_palloc(r->pool, APPPOOL_FCGI_STDERR_LINE);
    for (i = 0; i < n; i++) {
        if (bytes[i] == '\n') {
            end_line(err, r);
            continue;
        }
        if (err->size == APPPOOL_FCGI_STDERR_LINE)
            end_line(err, r);
        err->line[err->size++] = bytes[i];
    }
}

void apppool_fcgi_stderr_end(apppool_fcgi_stderr_t *err, request_rec *r)
{
    if (err->size > 0)
        end_line(err, r);
    if (err->lines > APPPOOL_FCGI_STDERR_LINES)
        SAY(r, "%s: %u more lines of this request are not logged", err->label,
            err->lines - APPPOOL_FCGI_STDERR_LINES);
}
