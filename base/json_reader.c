/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "base/json_reader.h"

#include <apr_strings.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SECONDS_MAX 31536000.0

void json_reader_refuse(json_reader_t *r, const char *format, ...)
{
    va_list args;
    int n = 0;

    if (r->wrong++)
        return;
    if (r->where)
        n = snprintf(r->error, JSON_READER_ERROR_MAX,
                     "%s %.80s: ", r->what ? r->what : "app", r->where);
    va_start(args, format);
    vsnprintf(r->error + n, JSON_READER_ERROR_MAX - (size_t)n, format, args);
    va_end(args);
}

const void *json_reader_keep(json_reader_t *r, const void *data, size_t n)
{
    const void *copy =
        r->kept ? apr_hash_get(r->kept, data, (apr_ssize_t)n) : NULL;

    if (copy)
        return copy;
    copy = apr_pmemdup(r->p, data, n);
    if (r->kept)
        apr_hash_set(r->kept, copy, (apr_ssize_t)n, copy);
    return copy;
}

const char *json_reader_keep_text(json_reader_t *r, const char *s)
{
    return json_reader_keep(r, s, strlen(s) + 1);
}

int json_reader_has_control(const char *s)
{
    for (; *s; s++)
        if ((unsigned char)*s < 0x20 || *s == 0x7f)
            return 1;
    return 0;
}

const char *json_reader_text(json_reader_t *r, const json_t *o, const char *key,
                             int nullable)
{
    const json_t *v = json_object_get(o, key);
    const char *s = json_string_value(v);

    if (json_is_null(v) && nullable)
        return NULL;
    if (!s || json_reader_has_control(s)) {
        json_reader_refuse(r, "\"%s\" is no line of text", key);
        return "";
    }
    return json_reader_keep_text(r, s);
}

void json_reader_copy(json_reader_t *r, const json_t *o, const char *key,
                      char *to, size_t size)
{
    const char *s = json_string_value(json_object_get(o, key));

    if (!s || !*s || json_reader_has_control(s) || strlen(s) >= size) {
        json_reader_refuse(r, "\"%s\" is no text of 1 to %zu characters", key,
                           size - 1);
        s = "";
    }
    snprintf(to, size, "%s", s);
}

const char *json_reader_path(json_reader_t *r, const json_t *o, const char *key,
                             int nullable)
{
    const char *s = json_reader_text(r, o, key, nullable);

    if (s && (s[0] != '/' || strlen(s) >= APR_PATH_MAX))
        json_reader_refuse(r, "\"%s\" is no absolute path", key);
    return s;
}

int64_t json_reader_number(json_reader_t *r, const json_t *o, const char *key,
                           int64_t min, int64_t max)
{
    const json_t *v = json_object_get(o, key);
    json_int_t n = json_integer_value(v);

    if (!json_is_integer(v) || n < min || n > max) {
        json_reader_refuse(r, "\"%s\" is no number from %lld to %lld", key,
                           (long long)min, (long long)max);
        return min;
    }
    return n;
}

uint32_t json_reader_count(json_reader_t *r, const json_t *o, const char *key)
{
    return (uint32_t)json_reader_number(r, o, key, 0, INT32_MAX);
}

size_t json_reader_list(json_reader_t *r, const json_t *o, const char *key,
                        size_t max, const json_t **list)
{
    *list = json_object_get(o, key);
    if (json_is_array(*list) && json_array_size(*list) <= max)
        return json_array_size(*list);
    *list = NULL;
    json_reader_refuse(r, "\"%s\" is no list of up to %zu", key, max);
    return 0;
}

int json_reader_boolean(json_reader_t *r, const json_t *o, const char *key)
{
    const json_t *v = json_object_get(o, key);

    if (!json_is_boolean(v))
        json_reader_refuse(r, "\"%s\" is neither true nor false", key);
    return json_is_true(v);
}

int64_t json_reader_duration(json_reader_t *r, const json_t *o, const char *key)
{
    const json_t *v = json_object_get(o, key);
    double s = json_number_value(v);

    if (!json_is_number(v) || !(s >= 0 && s <= SECONDS_MAX)) {
        json_reader_refuse(r, "\"%s\" is no time in seconds", key);
        return 0;
    }
    return (int64_t)(s * 1e6);
}
