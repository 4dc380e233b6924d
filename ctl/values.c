/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "ctl/values.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

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

void values_age(char *to, size_t size, double s)
{
    if (s < 0)
        s = 0;
    if (s < 100)
        snprintf(to, size, "%.0f s", s);
    else if (s < 6000)
        snprintf(to, size, "%.0f min", s / 60);
    else if (s < 172800)
        snprintf(to, size, "%.0f h", s / 3600);
    else
        snprintf(to, size, "%.0f d", s / 86400);
}

void values_since(char *to, size_t size, const json_t *o, const char *key)
{
    const char *iso = json_string_value(json_object_get(o, key));
    struct tm tm;

    memset(&tm, 0, sizeof tm);
    if (!iso || sscanf(iso, "%d-%d-%dT%d:%d:%d", &tm.tm_year, &tm.tm_mon,
                       &tm.tm_mday, &tm.tm_hour, &tm.tm_min, &tm.tm_sec) != 6) {
        snprintf(to, size, "-");
        return;
    }
    tm.tm_year -= 1900;
    tm.tm_mon--;
    values_age(to, size, difftime(time(NULL), timegm(&tm)));
}

const char *values_span(const json_t *seconds, char to[VALUES_SHORT])
{
    double s = json_number_value(seconds);

    if (!json_is_number(seconds))
        return "-";
    if (s < 0.01)
        snprintf(to, VALUES_SHORT, "%.1f ms", s * 1000);
    else if (s < 1)
        snprintf(to, VALUES_SHORT, "%.0f ms", s * 1000);
    else if (s < 100)
        snprintf(to, VALUES_SHORT, "%.1f s", s);
    else
        values_age(to, VALUES_SHORT, s);
    return to;
}

const char *values_bytes(const json_t *bytes, char to[VALUES_SHORT])
{
    if (!json_is_number(bytes))
        return "-";
    snprintf(to, VALUES_SHORT, "%.0f MB", json_number_value(bytes) / 1048576);
    return to;
}

const char *values_decimal(const json_t *number, int decimals,
                           char to[VALUES_SHORT])
{
    if (!json_is_number(number))
        return "-";
    snprintf(to, VALUES_SHORT, "%.*f", decimals, json_number_value(number));
    return to;
}

const char *values_word(const json_t *o, const char *key)
{
    const char *s = json_string_value(json_object_get(o, key));

    return s ? s : "";
}

const json_t *values_named(const json_t *list, const char *name)
{
    const json_t *o;
    size_t i;

    for (i = 0; *name && (o = json_array_get(list, i)) != NULL; i++)
        if (strcmp(values_word(o, "name"), name) == 0)
            return o;
    return NULL;
}

double values_clock(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}
