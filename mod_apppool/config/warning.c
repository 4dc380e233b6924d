/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/config/warning.h"

#include <apr_strings.h>
#include <http_log.h>
#include <stdarg.h>

APLOG_USE_MODULE(apppool);

typedef struct {
    const char *sentence;
    const apppool_app_t *first;
    int others;
} warning_t;

static apr_array_header_t *all; /* of warning_t * */
static apr_hash_t *by_sentence;

void apppool_warning_begin(apr_pool_t *p)
{
    all = apr_array_make(p, 8, sizeof(warning_t *));
    by_sentence = apr_hash_make(p);
}

void apppool_warning(const apppool_app_t *app, const char *format, ...)
{
    warning_t *w;
    char *sentence;
    va_list args;

    va_start(args, format);
    sentence = apr_pvsprintf(all->pool, format, args);
    va_end(args);
    w = apr_hash_get(by_sentence, sentence, APR_HASH_KEY_STRING);
    if (w) {
        w->others++;
        return;
    }
    w = apr_pcalloc(all->pool, sizeof *w);
    w->sentence = sentence;
    w->first = app;
    apr_hash_set(by_sentence, sentence, APR_HASH_KEY_STRING, w);
    APR_ARRAY_PUSH(all, warning_t *) = w;
}

void apppool_warning_end(void)
{
    int i;

    for (i = 0; i < all->nelts; i++) {
        const warning_t *w = APR_ARRAY_IDX(all, i, warning_t *);
        const char *others = w->others == 0   ? ""
                             : w->others == 1 ? " and another application"
                                              : apr_psprintf(all->pool,
                                                             " and %d other "
                                                             "applications",
                                                             w->others);

        ap_log_error(APLOG_MARK, APLOG_STARTUP | APLOG_WARNING, 0, NULL,
                     "apppool: %s (%s)%s: %s", w->first->pool.root,
                     w->first->place, others, w->sentence);
    }
}
