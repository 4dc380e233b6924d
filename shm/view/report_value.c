/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/view/report_value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
