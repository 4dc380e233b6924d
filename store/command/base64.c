/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/command/base64.h"

#include <stdint.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                             "abcdefghijklmnopqrstuvwxyz0123456789+/";

size_t store_base64_encode(const void *from, size_t n, char *to)
{
    const uint8_t *p = from;
    char *start = to;

    for (; n > 0; p += 3) {
        size_t now = n < 3 ? n : 3;
        uint32_t group = (uint32_t)p[0] << 16 |
                         (now > 1 ? (uint32_t)p[1] << 8 : 0) |
                         (now > 2 ? (uint32_t)p[2] : 0);

        *to++ = digits[group >> 18];
        *to++ = digits[group >> 12 & 63];
        *to++ = now > 1 ? digits[group >> 6 & 63] : '=';
        *to++ = now > 2 ? digits[group & 63] : '=';
        n -= now;
    }
    return (size_t)(to - start);
}

/* 64: no digit. '=' counts as 0. */
static uint32_t value(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (uint32_t)(c - 'A');
    if (c >= 'a' && c <= 'z')
        return (uint32_t)(c - 'a' + 26);
    if (c >= '0' && c <= '9')
        return (uint32_t)(c - '0' + 52);
    return c == '+' ? 62 : c == '/' ? 63 : c == '=' ? 0 : 64;
}

size_t store_base64_decode(const char *from, size_t n, char *to)
{
    char *start = to;
    uint32_t group = 0;
    unsigned count = 0, equals = 0, padding = 0;
    size_t known = 0;

    for (size_t i = 0; i < n; i++)
        known += value(from[i]) < 64;
    if (known % 4 != 0)
        return 0;
    for (size_t i = 0; i < n && padding == 0; i++) {
        if (value(from[i]) == 64)
            continue;
        group = group << 6 | value(from[i]);
        equals += from[i] == '=';
        if (++count < 4)
            continue;
        padding = equals;
        if (padding > 2)
            return 0;
        *to++ = (char)(group >> 16);
        *to++ = (char)(group >> 8);
        *to++ = (char)group;
        group = 0;
        count = 0;
    }
    return (size_t)(to - start) - padding;
}
