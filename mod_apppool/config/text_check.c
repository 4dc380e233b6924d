/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/config/text_check.h"

#include <apr_lib.h>
#include <apr_strings.h>
#include <string.h>

#include "base/env_name.h"

/* U+202A to U+202E and U+2066 to U+2069 change the order in which the text
 * after them is shown. */
static int is_turning(const unsigned char *s)
{
    return s[0] == 0xe2 && ((s[1] == 0x80 && s[2] >= 0xaa && s[2] <= 0xae) ||
                            (s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9));
}

apr_size_t apppool_text_check_character(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    static const struct {
        unsigned char first, last; /* first byte */
        unsigned char low, high;   /* second byte */
        unsigned char bytes;
    } forms[] = {
        {0x20, 0x7e, 0, 0, 1},       {0xc2, 0xc2, 0xa0, 0xbf, 2},
        {0xc3, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3},
        {0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
        {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };
    size_t f, i;

    for (f = 0; f < sizeof forms / sizeof *forms; f++) {
        if (s[0] < forms[f].first || s[0] > forms[f].last)
            continue;
        if (forms[f].bytes > 1 && (s[1] < forms[f].low || s[1] > forms[f].high))
            return 0;
        for (i = 2; i < forms[f].bytes; i++)
            if ((s[i] & 0xc0) != 0x80)
                return 0;
        return is_turning(s) ? 0 : forms[f].bytes;
    }
    return 0;
}

int apppool_text_check_is_text(const char *text)
{
    apr_size_t n;

    for (; *text; text += n) {
        n = apppool_text_check_character(text);
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
