/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "ctl/values.h"

void values_put(FILE *out, const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)text[0], d = (unsigned char)text[1];

        int wide = c == 0xc2 && d >= 0x80 && d < 0xa0; /* U+0080 to U+009F */

        putc(wide || (c < 0x20 && c != '\t') || c == 0x7f ? '?' : text[0], out);
        text += wide;
    }
}

void values_line(const char *line)
{
    values_put(stdout, line);
    putchar('\n');
}

const char *values_text(const json_t *o, const char *key)
{
    static char buffers[4][1024]; /* the sentence of a failed start fits */
    static unsigned turn;
    const char *s = json_string_value(json_object_get(o, key));
    char *to = buffers[turn++ % 4];
    size_t i;

    for (i = 0; s && s[i] && i < sizeof *buffers - 1; i++) {
        unsigned char c = (unsigned char)s[i];

        to[i] = c < 0x20 || c == 0x7f ? '?' : s[i];
        /* A terminal also obeys U+0080 to U+009F. */
        if (i > 0 && (unsigned char)s[i - 1] == 0xc2 && c < 0xa0)
            to[i - 1] = to[i] = '?';
    }
    to[i] = 0;
    return i ? to : "-";
}

json_int_t values_number(const json_t *o, const char *key)
{
    return json_integer_value(json_object_get(o, key));
}
