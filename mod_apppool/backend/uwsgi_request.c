/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/backend/uwsgi_request.h"

#include <string.h>

#include "mod_apppool/backend/bare_packet.h"

#define LENGTH 2 /* bytes of a number */

static apr_size_t size_of(const apr_table_entry_t *pairs, int count)
{
    apr_size_t n = 0;
    int i;

    for (i = 0; i < count; i++)
        if (apppool_bare_packet_has(pairs[i].key))
            n += apppool_bare_packet_size(&pairs[i], 2 * LENGTH);
    return n;
}

static unsigned char *put_number(unsigned char *at, apr_size_t n)
{
    at[0] = (unsigned char)n;
    at[1] = (unsigned char)(n >> 8);
    return at + LENGTH;
}

static unsigned char *put_text(unsigned char *at, const char *text)
{
    apr_size_t n = strlen(text);

    at = put_number(at, n);
    memcpy(at, text, n);
    return at + n;
}

unsigned char *apppool_uwsgi_request_make(apr_pool_t *p,
                                          const apr_table_t *variables,
                                          apr_size_t *bytes)
{
    const apr_array_header_t *all = apr_table_elts(variables);
    const apr_table_entry_t *pairs = (const apr_table_entry_t *)all->elts;
    apr_size_t n = size_of(pairs, all->nelts);
    unsigned char *begin, *at;
    int i;

    if (n > UWSGI_MOST)
        return NULL;
    at = begin = apr_palloc(p, UWSGI_HEADER + n);
    *at++ = 0;
    at = put_number(at, n);
    *at++ = 0;
    for (i = 0; i < all->nelts; i++) {
        if (!apppool_bare_packet_has(pairs[i].key))
            continue;
        at = put_text(at, pairs[i].key);
        at = put_text(at, apppool_bare_packet_value(&pairs[i]));
    }
    *bytes = UWSGI_HEADER + n;
    return begin;
}
