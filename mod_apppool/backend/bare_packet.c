/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/backend/bare_packet.h"

#include <apr_strings.h>
#include <string.h>

#define ZERO         1 /* the byte behind a name and a value, over scgi */
#define LENGTH       2 /* bytes of a number, over uwsgi */

#define COUNT(names) (sizeof names / sizeof *names)

/* For the access log (doc/logs.md). */
static const char *const notes[] = {"APPPOOL_PID", "APPPOOL_QUEUE_MS",
                                    "APPPOOL_APP_MS"};

/* Over scgi they come first, or belong to CGI alone. */
static const char *const placed[] = {"CONTENT_LENGTH", "SCGI",
                                     "GATEWAY_INTERFACE"};

static int is_among(const char *name, const char *const *names, size_t count)
{
    size_t i;

    for (i = 0; i < count; i++)
        if (!strcmp(name, names[i]))
            return 1;
    return 0;
}

static int is_sent(const apr_table_entry_t *pair, int is_uwsgi)
{
    return !is_among(pair->key, notes, COUNT(notes)) &&
           (is_uwsgi || !is_among(pair->key, placed, COUNT(placed)));
}

static const char *value_of(const apr_table_entry_t *pair)
{
    return pair->val ? pair->val : "";
}

static apr_size_t size_of(const apr_table_entry_t *pairs, int count,
                          int is_uwsgi)
{
    apr_size_t n = 0, extra = 2 * (is_uwsgi ? LENGTH : ZERO);
    int i;

    for (i = 0; i < count; i++)
        if (is_sent(&pairs[i], is_uwsgi))
            n += strlen(pairs[i].key) + strlen(value_of(&pairs[i])) + extra;
    return n;
}

/* ---- scgi ---- */

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

unsigned char *apppool_bare_packet_scgi(apr_pool_t *p,
                                        const apr_table_t *variables,
                                        apr_size_t *bytes)
{
    const apr_array_header_t *all = apr_table_elts(variables);
    const apr_table_entry_t *pairs = (const apr_table_entry_t *)all->elts;
    const char *body = apr_table_get(variables, "CONTENT_LENGTH"), *length;
    apr_size_t n = size_of(pairs, all->nelts, 0);
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
        if (is_sent(&pairs[i], 0))
            at = put_variable(at, pairs[i].key, value_of(&pairs[i]));
    *at++ = ',';
    *bytes = (apr_size_t)(at - begin);
    return begin;
}

/* ---- uwsgi ---- */

static unsigned char *put_number(unsigned char *at, apr_size_t n)
{
    at[0] = (unsigned char)n;
    at[1] = (unsigned char)(n >> 8);
    return at + LENGTH;
}

/* With its length before it. */
static unsigned char *put_counted(unsigned char *at, const char *text)
{
    apr_size_t n = strlen(text);

    at = put_number(at, n);
    memcpy(at, text, n);
    return at + n;
}

unsigned char *apppool_bare_packet_uwsgi(apr_pool_t *p,
                                         const apr_table_t *variables,
                                         apr_size_t *bytes)
{
    const apr_array_header_t *all = apr_table_elts(variables);
    const apr_table_entry_t *pairs = (const apr_table_entry_t *)all->elts;
    apr_size_t n = size_of(pairs, all->nelts, 1);
    unsigned char *begin, *at;
    int i;

    if (n > UWSGI_MOST)
        return NULL;
    at = begin = apr_palloc(p, UWSGI_HEADER + n);
    *at++ = 0;
    at = put_number(at, n);
    *at++ = 0;
    for (i = 0; i < all->nelts; i++)
        if (is_sent(&pairs[i], 1))
            at =
                put_counted(put_counted(at, pairs[i].key), value_of(&pairs[i]));
    *bytes = UWSGI_HEADER + n;
    return begin;
}
