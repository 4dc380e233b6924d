/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/backend/field_name.h"

#include <httpd.h>

/* Most names differ in the first letter. To see that here is cheaper than a
 * call for each pair of names. */
static int may_be(const char *name, const char *other)
{
    return ((*name ^ *other) & ~('a' ^ 'A')) == 0;
}

int apppool_field_name_is_among(const char *name, const char *const *names,
                                size_t n)
{
    size_t i;

    for (i = 0; i < n; i++)
        if (may_be(name, names[i]) && !ap_cstr_casecmp(name, names[i]))
            return 1;
    return 0;
}
