/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/backend/fcgi_request.h"

#include <string.h>

#include "mod_apppool/backend/fcgi_format.h"

#define BODY_OF_BEGIN 8           /* bytes */
#define FULL          (16 * 1024) /* bytes of a record without more pairs */
#define LENGTHS       8           /* bytes of two lengths, at most */

/* Records of parameters, one behind the other. */
typedef struct {
    unsigned char *header; /* of the record that is being filled */
    unsigned char *at;
    unsigned request; /* id */
} writer_t;

unsigned char *apppool_fcgi_request_header(unsigned char *at, int type,
                                           unsigned request, apr_size_t n)
{
    at[0] = FCGI_VERSION;
    at[1] = (unsigned char)type;
    at[2] = (unsigned char)(request >> 8);
    at[3] = (unsigned char)request;
    at[4] = (unsigned char)(n >> 8);
    at[5] = (unsigned char)n;
    at[6] = at[7] = 0;
    return at + FCGI_HEADER;
}

static unsigned char *put_begin(unsigned char *at,
                                const apppool_fcgi_begin_t *begin)
{
    at = apppool_fcgi_request_header(at, FCGI_BEGIN_REQUEST, begin->request,
                                     BODY_OF_BEGIN);
    memset(at, 0, BODY_OF_BEGIN);
    at[1] = FCGI_RESPONDER;
    at[2] = begin->keeps ? FCGI_KEEP_CONN : 0;
    return at + BODY_OF_BEGIN;
}

static apr_size_t length_of(const writer_t *w)
{
    return (apr_size_t)(w->at - w->header) - FCGI_HEADER;
}

static void begin_record(writer_t *w, unsigned char *at)
{
    w->header = at;
    w->at = at + FCGI_HEADER;
}

static void end_record(const writer_t *w)
{
    apppool_fcgi_request_header(w->header, FCGI_PARAMS, w->request,
                                length_of(w));
}

static void put_bytes(writer_t *w, const void *bytes, apr_size_t n)
{
    const unsigned char *from = bytes;
    apr_size_t some;

    while (n > 0) {
        some = FCGI_MOST - length_of(w);
        if (some == 0) {
            end_record(w);
            begin_record(w, w->at);
            continue;
        }
        if (some > n)
            some = n;
        memcpy(w->at, from, some);
        w->at += some;
        from += some;
        n -= some;
    }
}

/* @return what follows it */
static unsigned char *put_length(unsigned char *at, apr_size_t n)
{
    if (n >= 0x80) {
        *at++ = (unsigned char)(n >> 24 | 0x80);
        *at++ = (unsigned char)(n >> 16);
        *at++ = (unsigned char)(n >> 8);
    }
    *at++ = (unsigned char)n;
    return at;
}

static void put_pair(writer_t *w, const char *name, const char *value)
{
    apr_size_t names = strlen(name), values = strlen(value);
    unsigned char lengths[LENGTHS];
    apr_size_t both =
        (apr_size_t)(put_length(put_length(lengths, names), values) - lengths);
    apr_size_t n = both + names + values;

    if (length_of(w) > 0 && length_of(w) + n > FULL) {
        end_record(w);
        begin_record(w, w->at);
    }
    put_bytes(w, lengths, both);
    put_bytes(w, name, names);
    put_bytes(w, value, values);
}

static const char *value_of(const apr_table_entry_t *pair)
{
    return pair->val ? pair->val : "";
}

/* Room for all records, at most. Each pair may begin a record. */
static apr_size_t room_for(const apr_table_entry_t *pairs, int count)
{
    apr_size_t n = FCGI_HEADER + BODY_OF_BEGIN + 3 * FCGI_HEADER, pair;
    int i;

    for (i = 0; i < count; i++) {
        pair = LENGTHS + strlen(pairs[i].key) + strlen(value_of(&pairs[i]));
        n += pair + (1 + pair / FCGI_MOST) * FCGI_HEADER;
    }
    return n;
}

unsigned char *apppool_fcgi_request_make(apr_pool_t *p,
                                         const apr_table_t *parameters,
                                         const apppool_fcgi_begin_t *begin,
                                         apr_size_t *bytes)
{
    const apr_array_header_t *all = apr_table_elts(parameters);
    const apr_table_entry_t *pairs = (const apr_table_entry_t *)all->elts;
    unsigned char *records = apr_palloc(p, room_for(pairs, all->nelts)), *at;
    writer_t w = {.request = begin->request};
    int i;

    begin_record(&w, put_begin(records, begin));
    for (i = 0; i < all->nelts; i++)
        put_pair(&w, pairs[i].key, value_of(&pairs[i]));
    /* An empty record would be the end. */
    at = w.header;
    if (length_of(&w) > 0) {
        end_record(&w);
        at = w.at;
    }
    at = apppool_fcgi_request_header(at, FCGI_PARAMS, begin->request, 0);
    if (begin->ends)
        at = apppool_fcgi_request_header(at, FCGI_STDIN, begin->request, 0);
    *bytes = (apr_size_t)(at - records);
    return records;
}
