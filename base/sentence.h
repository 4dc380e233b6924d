/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file sentence.h
 * @brief A sentence for people that is made of parts. What does not fit is cut
 *        off.
 */
#ifndef APPPOOL_BASE_SENTENCE_H
#define APPPOOL_BASE_SENTENCE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#define SENTENCE_MAX 4096 /* bytes, NUL included; an error has up to 999 */

/** Zeroed at first. */
typedef struct {
    char text[SENTENCE_MAX];
    size_t n; /**< bytes of text */
} sentence_t;

/** Append. */
__attribute__((format(printf, 2, 3))) static inline void
sentence_add(sentence_t *s, const char *format, ...)
{
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(s->text + s->n, sizeof s->text - s->n, format, args);
    va_end(args);
    s->n += n > 0 ? (size_t)n : 0;
    if (s->n >= sizeof s->text)
        s->n = sizeof s->text - 1;
}

#endif
