/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/server/config_value.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void store_config_value_refuse(store_config_value_t *r, const char *format, ...)
{
    va_list args;
    int n = 0;

    if (r->wrong++)
        return;
    if (r->where)
        n = snprintf(r->error, r->size, "%s %.80s: ", r->what, r->where);
    va_start(args, format);
    vsnprintf(r->error + n, r->size - (size_t)n, format, args);
    va_end(args);
}

int64_t store_config_value_number(store_config_value_t *r, const json_t *o,
                                  const char *key, int64_t min, int64_t max)
{
    const json_t *v = json_object_get(o, key);
    json_int_t n = json_integer_value(v);

    if (json_is_integer(v) && n >= min && n <= max)
        return n;
    store_config_value_refuse(r, "\"%s\" is no number from %lld to %lld", key,
                              (long long)min, (long long)max);
    return min;
}

int store_config_value_boolean(store_config_value_t *r, const json_t *o,
                               const char *key)
{
    const json_t *v = json_object_get(o, key);

    if (!json_is_boolean(v))
        store_config_value_refuse(r, "\"%s\" is neither true nor false", key);
    return json_is_true(v);
}

static int has_control(const char *s)
{
    for (; *s; s++)
        if ((unsigned char)*s < 0x20 || *s == 0x7f)
            return 1;
    return 0;
}

void store_config_value_text(store_config_value_t *r, const json_t *o,
                             const char *key, char *to, size_t size)
{
    const char *s = json_string_value(json_object_get(o, key));

    if (!s || !*s || has_control(s) || strlen(s) >= size) {
        store_config_value_refuse(r, "\"%s\" is no text of 1 to %zu characters",
                                  key, size - 1);
        s = "";
    }
    snprintf(to, size, "%s", s);
}

size_t store_config_value_list(store_config_value_t *r, const json_t *o,
                               const char *key, size_t max, const json_t **to)
{
    *to = json_object_get(o, key);
    if (json_is_array(*to) && json_array_size(*to) <= max)
        return json_array_size(*to);
    *to = NULL;
    store_config_value_refuse(r, "\"%s\" is no list of up to %zu", key, max);
    return 0;
}
