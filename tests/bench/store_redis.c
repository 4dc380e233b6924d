/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "tests/bench/store_redis.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WAIT "*3\r\n$4\r\nWAIT\r\n$1\r\n%d\r\n$1\r\n0\r\n"

size_t redis_get(char *to, const char *key)
{
    return (size_t)sprintf(to, "*2\r\n$3\r\nGET\r\n$%zu\r\n%s\r\n", strlen(key),
                           key);
}

size_t redis_set(char *to, const char *key, const char *value, size_t n,
                 int replicas)
{
    size_t at = (size_t)sprintf(to, "*3\r\n$3\r\nSET\r\n$%zu\r\n%s\r\n$%zu\r\n",
                                strlen(key), key, n);

    memcpy(to + at, value, n);
    at += n;
    return at + (size_t)sprintf(to + at, "\r\n" WAIT, replicas);
}

/* @return bytes with the newline; 0: it has not arrived */
static size_t line_of(const char *in, size_t n)
{
    const char *end = memchr(in, '\n', n);

    return end ? (size_t)(end - in) + 1 : 0;
}

size_t redis_reply(const char *in, size_t n, int replicas, const char **value,
                   size_t *length, int *good)
{
    size_t line = line_of(in, n), next;

    *value = NULL;
    if (line == 0)
        return 0;
    if (replicas > 0) {
        next = line_of(in + line, n - line);
        *good =
            in[0] == '+' && in[line] == ':' && in[line + 1] >= '0' + replicas;
        return next ? line + next : 0;
    }
    *good = in[0] == '$';
    if (!*good || in[1] == '-')
        return line;
    *length = (size_t)atol(in + 1);
    *value = in + line;
    line += *length + 2;
    return line <= n ? line : 0;
}
