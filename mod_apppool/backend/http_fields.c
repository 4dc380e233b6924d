/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/backend/http_fields.h"

#include <apr_lib.h>
#include <string.h>

#define DIGITS 18 /* of a length, at most: it fits into apr_off_t */

/* RFC 9110, section 5.6.2. */
static int is_token(const char *at, const char *end)
{
    const char *from = at;

    for (; at < end; at++)
        if (!apr_isalnum(*at) && (*at == 0 || !strchr("!#$%&'*+-.^_`|~", *at)))
            return 0;
    return end > from;
}

static int is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* The end of a field: behind the LF of the last line that continues it. The ends
 * of the lines before become spaces. */
static char *end_of(char *at, char *end)
{
    char *lf = memchr(at, '\n', (size_t)(end - at));

    while (lf && lf + 1 < end && is_blank(lf[1])) {
        *lf = ' ';
        if (lf > at && lf[-1] == '\r')
            lf[-1] = ' ';
        lf = memchr(lf, '\n', (size_t)(end - lf));
    }
    return lf ? lf + 1 : end;
}

/* @param end behind the LF */
static const char *read_one(char *at, char *end, apr_table_t *fields)
{
    char *colon = memchr(at, ':', (size_t)(end - at)), *value;

    if (!colon)
        return "a line of the header has no colon";
    if (!is_token(at, colon))
        return "the name of a field is no token";
    value = colon + 1;
    end--; /* the LF */
    if (end > value && end[-1] == '\r')
        end--;
    while (end > value && is_blank(end[-1]))
        end--;
    while (value < end && is_blank(*value))
        value++;
    if (memchr(value, 0, (size_t)(end - value)) ||
        memchr(value, '\r', (size_t)(end - value)))
        return "the value of a field has a zero byte or CR";
    *colon = *end = 0;
    apr_table_addn(fields, at, value);
    return NULL;
}

const char *apppool_http_fields_read(char *at, char *end, apr_table_t *fields)
{
    const char *wrong = NULL;
    char *next;

    if (at < end && is_blank(*at))
        return "the header begins with a space";
    for (; at < end && !wrong; at = next) {
        next = end_of(at, end);
        wrong = read_one(at, next, fields);
    }
    return wrong;
}

/* ---- Content-Length ---- */

typedef struct {
    apr_off_t length;
    const char *wrong;
} search_t;

static int see_length(void *search_, const char *name, const char *value)
{
    search_t *search = search_;
    size_t n = strspn(value, "0123456789");
    apr_off_t length = 0;
    size_t i;

    (void)name;
    for (i = 0; i < n && n <= DIGITS; i++)
        length = length * 10 + (value[i] - '0');
    if (n == 0 || n > DIGITS || value[n] != 0)
        search->wrong = "Content-Length is not a number";
    else if (search->length >= 0 && search->length != length)
        search->wrong = "there are two different values of Content-Length";
    search->length = length;
    return search->wrong == NULL;
}

const char *apppool_http_fields_length(const apr_table_t *fields,
                                       apr_off_t *length)
{
    search_t search = {-1, NULL};

    apr_table_do(see_length, &search, fields, "Content-Length", NULL);
    *length = search.length;
    return search.wrong;
}
