/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/backend/fcgi_stderr.h"

#include <http_log.h>
#include <string.h>

#include "shm/lock/lock_token.h"

APLOG_USE_MODULE(apppool);

#define SAY(r, ...)                                                            \
    ap_log_rerror(APLOG_MARK, APLOG_ERR, 0, r, "apppool: " __VA_ARGS__)

static void log_batch(const apppool_fcgi_stderr_t *err, request_rec *r)
{
    const char *line = err->batch, *end = line + err->used, *next;

    for (; line < end; line = next + 1) {
        next = memchr(line, '\n', (apr_size_t)(end - line));
        SAY(r, "%s> %.*s", err->label, (int)(next - line), line);
    }
}

static void give_batch(apppool_fcgi_stderr_t *err, request_rec *r)
{
    if (err->used > 0 &&
        apl_app_stderr_put(err->pool, err->id, !err->has_log, err->batch,
                           err->used, apl_now()) != APR_SUCCESS &&
        err->has_log)
        log_batch(err, r);
    err->used = 0;
}

static void add_line(apppool_fcgi_stderr_t *err, request_rec *r, apr_size_t n)
{
    if (!err->has_log)
        SAY(r, "%s> %.*s", err->label, (int)n, err->line);
    if (!err->batch)
        err->batch = apr_palloc(r->pool, APL_STDERR_TEXT);
    if (err->used + n + 1 > APL_STDERR_TEXT)
        give_batch(err, r);
    memcpy(err->batch + err->used, err->line, n);
    err->batch[err->used + n] = '\n';
    err->used += n + 1;
}

static void end_line(apppool_fcgi_stderr_t *err, request_rec *r)
{
    apr_size_t n = err->size;

    if (n > 0 && err->line[n - 1] == '\r')
        n--;
    err->size = 0;
    if (n == 0)
        return;
    if (err->lines++ < APPPOOL_FCGI_STDERR_LINES)
        add_line(err, r, n);
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
    give_batch(err, r);
}

void apppool_fcgi_stderr_end(apppool_fcgi_stderr_t *err, request_rec *r)
{
    if (err->size > 0)
        end_line(err, r);
    give_batch(err, r);
    if (err->lines > APPPOOL_FCGI_STDERR_LINES)
        SAY(r, "%s: %u more lines of this request are not logged", err->label,
            err->lines - APPPOOL_FCGI_STDERR_LINES);
}
