/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/view/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shm/lock/lock_token.h"

#define YEAR_10000 UINT64_C(253402300800) /* s since 1970 */

json_t *apl_report_text(const char *s)
{
    json_t *value = json_string(s);

    if (!value) {
        char *ascii = strdup(s), *c;

        for (c = ascii; c && *c; c++)
            if ((unsigned char)*c >= 0x80)
                *c = '?';
        value = json_string(ascii ? ascii : "");
        free(ascii);
    }
    return value;
}

json_t *apl_report_number(uint64_t n)
{
    return json_integer((json_int_t)n);
}

json_t *apl_report_figure(const uint64_t *n)
{
    uint64_t now = __atomic_load_n(n, __ATOMIC_RELAXED);

    return apl_report_number(now < INT64_MAX ? now : INT64_MAX);
}

json_t *apl_report_time(apr_time_t t)
{
    apr_time_exp_t e;
    char iso[96];

    apr_time_exp_gmt(&e, t);
    snprintf(iso, sizeof iso, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ",
             e.tm_year + 1900, e.tm_mon + 1, e.tm_mday, e.tm_hour, e.tm_min,
             e.tm_sec, e.tm_usec / 1000);
    return json_string(iso);
}

json_t *apl_report_instant(int64_t t)
{
    return apl_report_time((apr_time_t)((uint64_t)apr_time_now() +
                                        (uint64_t)apl_since(t, apl_now())));
}

json_t *apl_report_epoch(uint64_t s)
{
    return s < YEAR_10000 ? apl_report_time(apr_time_from_sec((apr_time_t)s))
                          : NULL;
}

void apl_report_set_known(json_t *o, const char *key, json_t *value)
{
    json_object_set_new(o, key, value ? value : json_null());
}

json_t *apl_report_seconds(int64_t us)
{
    return json_real((double)(us / 1000) / 1000.0);
}

json_t *apl_report_id(uint64_t id)
{
    char hex[17];

    snprintf(hex, sizeof hex, "%016llx", (unsigned long long)id);
    return json_string(hex);
}
