/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/status/status_auto.h"

#include <apr_lib.h>
#include <http_protocol.h>
#include <string.h>

/* "queue_full" as "QueueFull". */
static const char *camel(request_rec *r, const char *key)
{
    char *name = apr_palloc(r->pool, strlen(key) + 1), *to = name;
    int up = 1;

    for (; *key; key++)
        if (*key == '_')
            up = 1;
        else {
            *to++ = up ? (char)apr_toupper(*key) : *key;
            up = 0;
        }
    *to = 0;
    return name;
}

static void lines(request_rec *r, json_t *object, const char *prefix)
{
    const char *key;
    json_t *value;

    json_object_foreach(object, key, value)
    {
        if (json_is_integer(value))
            ap_rprintf(r, "%s%s: %" APR_INT64_T_FMT "\n", prefix, camel(r, key),
                       (apr_int64_t)json_integer_value(value));
        else if (json_is_number(value))
            ap_rprintf(r, "%s%s: %.6f\n", prefix, camel(r, key),
                       json_number_value(value));
    }
}

void apppool_status_auto(request_rec *r, const json_t *doc)
{
    const json_t *pool = json_object_get(doc, "pool");

    lines(r, json_object_get(doc, "pool"), "AppPool");
    lines(r, json_object_get(pool, "states"), "AppPoolProcesses");
    lines(r, json_object_get(doc, "counters"), "AppPoolTotal");
}
