/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "base/utf8.h"

/* U+202A to U+202E and U+2066 to U+2069 change the order in which the text
 * after them is shown. */
static int is_turning(const unsigned char *s)
{
    return s[0] == 0xe2 && ((s[1] == 0x80 && s[2] >= 0xaa && s[2] <= 0xae) ||
                            (s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9));
}

size_t utf8_character(const char *text)
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
