/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/backend/scgi_request.h"

#include <apr_strings.h>
#include <string.h>

#include "mod_apppool/backend/bare_packet.h"

#define ZERO 1 /* the byte behind a name and behind a value */

/* They come first, or belong to CGI alone. */
static const char *const placed[] = {"CONTENT_LENGTH", "SCGI",
                                     "GATEWAY_INTERFACE"};

static int is_sent(const apr_table_entry_t *pair)
{
    size_t i;

    for (i = 0; i < sizeof placed / sizeof *placed; i++)
        if (!strcmp(pair->key, placed[i]))
            return 0;
    return apppool_bare_packet_has(pair->key);
}

static apr_size_t size_of(const apr_table_entry_t *pairs, int count)
{
    apr_size_t n = 0;
    int i;

    for (i = 0; i < count; i++)
        if (is_sent(&pairs[i]))
            n += apppool_bare_packet_size(&pairs[i], 2 * ZERO);
    return n;
}

/* With the zero byte behind it. */
static unsigned char *put_text(unsigned char *at, const char *text)
{
    apr_size_t n = strlen(text) + ZERO;

    memcpy(at, text, n);
    return at + n;
}

static unsigned char *put_variable(unsigned char *at, const char *name,
                                   const char *value)
{
    return put_text(put_text(at, name), value);
}

unsigned char *apppool_scgi_request_make(apr_pool_t *p,
                                         const apr_table_t *variables,
                                         apr_size_t *bytes)
{
    const apr_array_header_t *all = apr_table_elts(variables);
    const apr_table_entry_t *pairs = (const apr_table_entry_t *)all->elts;
    const char *body = apr_table_get(variables, "CONTENT_LENGTH"), *length;
    apr_size_t n = size_of(pairs, all->nelts);
    unsigned char *begin, *at;
    int i;

    if (!body)
        body = "0";
    n +=
        sizeof "CONTENT_LENGTH" + strlen(body) + 1 + sizeof "SCGI" + sizeof "1";
    length = apr_psprintf(p, "%" APR_SIZE_T_FMT ":", n);
    /* The comma has the place of the zero byte that ends the length. */
    at = begin = apr_palloc(p, strlen(length) + n + 1);
    at = put_text(at, length) - 1;
    at = put_variable(at, "CONTENT_LENGTH", body);
    at = put_variable(at, "SCGI", "1");
    for (i = 0; i < all->nelts; i++)
        if (is_sent(&pairs[i]))
            at = put_variable(at, pairs[i].key,
                              apppool_bare_packet_value(&pairs[i]));
    *at++ = ',';
    *bytes = (apr_size_t)(at - begin);
    return begin;
}
