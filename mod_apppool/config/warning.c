/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/config/warning.h"

#include <apr_strings.h>
#include <http_log.h>
#include <stdarg.h>

APLOG_USE_MODULE(apppool);

typedef struct {
    const char *sentence;
    const apppool_app_t *first; /* NULL: the sentence names it */
    int n;                      /* how many of its key there are so far */
    int others;                 /* that are not printed */
} warning_t;

static apr_array_header_t *all; /* of warning_t * */
static apr_hash_t *by_key;      /* the last one of each */

void apppool_warning_begin(apr_pool_t *p)
{
    all = apr_array_make(p, 8, sizeof(warning_t *));
    by_key = apr_hash_make(p);
}

static void add(const char *key, int n, const char *sentence,
                const apppool_app_t *first)
{
    warning_t *w = apr_pcalloc(all->pool, sizeof *w);

    w->sentence = sentence;
    w->first = first;
    w->n = n;
    apr_hash_set(by_key, key, APR_HASH_KEY_STRING, w);
    APR_ARRAY_PUSH(all, warning_t *) = w;
}

void apppool_warning(const apppool_app_t *app, const char *format, ...)
{
    warning_t *w;
    char *sentence;
    va_list args;

    va_start(args, format);
    sentence = apr_pvsprintf(all->pool, format, args);
    va_end(args);
    w = apr_hash_get(by_key, sentence, APR_HASH_KEY_STRING);
    if (w)
        w->others++;
    else
        add(sentence, 1, sentence, app);
}

void apppool_warning_alike(const char *key, int most, const char *format, ...)
{
    warning_t *last = apr_hash_get(by_key, key, APR_HASH_KEY_STRING);
    va_list args;

    if (last && last->n == most) {
        last->others++;
        return;
    }
    va_start(args, format);
    add(key, last ? last->n + 1 : 1, apr_pvsprintf(all->pool, format, args),
        NULL);
    va_end(args);
}

static const char *others(const warning_t *w)
{
    if (w->others == 0)
        return "";
    if (!w->first)
        return apr_psprintf(all->pool,
                            "; the same is so for %d more application%s",
                            w->others, w->others == 1 ? "" : "s");
    return w->others == 1
               ? " and another application"
               : apr_psprintf(all->pool, " and %d other applications",
                              w->others);
}

static const char *line(const warning_t *w)
{
    return w->first
               ? apr_psprintf(all->pool, "%s (%s)%s: %s", w->first->pool.root,
                              w->first->place, others(w), w->sentence)
               : apr_pstrcat(all->pool, w->sentence, others(w), NULL);
}

void apppool_warning_end(void)
{
    int i;

    for (i = 0; i < all->nelts; i++)
        ap_log_error(APLOG_MARK, APLOG_STARTUP | APLOG_WARNING, 0, NULL,
                     "apppool: %s", line(APR_ARRAY_IDX(all, i, warning_t *)));
}
