/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/config/text_check.h"

#include <apr_lib.h>
#include <apr_strings.h>
#include <string.h>

#include "base/env_name.h"
#include "base/utf8.h"

int apppool_text_check_is_text(const char *text)
{
    size_t n;

    for (; *text; text += n) {
        n = utf8_character(text);
        if (n == 0)
            return 0;
    }
    return 1;
}

int apppool_text_check_time(const char *text)
{
    static const char *const units[] = {"", "ms", "s", "mi", "min", "h"};
    size_t i, n = strspn(text, "0123456789");

    for (i = 0; n > 0 && i < sizeof units / sizeof *units; i++)
        if (!strcmp(text + n, units[i]))
            return 1;
    return 0;
}

const char *apppool_text_check_variable(apr_pool_t *p, const char *directive,
                                        const char *name)
{
    const char *wrong = env_name_refused(name, strlen(name));

    return wrong ? apr_psprintf(p, "%s: \"%s\" %s", directive, name, wrong)
                 : NULL;
}
