/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "ctl/values.h"

#include "base/utf8.h"

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

void values_calm(char *text)
{
    size_t n;

    for (; *text; text += n ? n : 1) {
        n = utf8_character(text);
        if (n == 0)
            *text = '?';
    }
}

const char *values_text(const json_t *o, const char *key)
{
    static char buffers[4][1024]; /* the sentence of a failed start fits */
    static unsigned turn;
    const char *s = json_string_value(json_object_get(o, key));
    char *to = buffers[turn++ % 4];

    snprintf(to, sizeof *buffers, "%s", s && *s ? s : "-");
    values_calm(to);
    return to;
}

json_int_t values_number(const json_t *o, const char *key)
{
    return json_integer_value(json_object_get(o, key));
}
