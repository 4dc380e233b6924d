/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/output/output.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define TAIL_MAX   4096
#define TAIL_LINES 20

void last_lines_keep(output_t *o)
{
    if (!o->tail)
        o->tail = malloc(TAIL_MAX);
    o->tail_length = 0;
}

void last_lines_forget(output_t *o)
{
    free(o->tail);
    o->tail = NULL;
}

/* Ruby: "/srv/shop/config.ru:3:in `new'" */
static int is_ruby(const char *line, size_t n)
{
    const char *in =
        n > 0 && line[n - 1] == '\'' ? memmem(line, n, ":in ", 4) : NULL;

    return in && in > line && isdigit((unsigned char)in[-1]);
}

/* Go: "main.(*shop).open(0xc000012345)", "goroutine 1 [running]:" */
static int is_go(const char *line, size_t n)
{
    const char *args = memchr(line, '(', n), *dot = memchr(line, '.', n);

    return (n > 10 && memcmp(line, "goroutine ", 10) == 0) ||
           (args && dot && dot < args && line[n - 1] == ')' &&
            !memchr(line, ' ', n));
}

int last_lines_is_frame(const char *line)
{
    size_t n = strcspn(line, "\n");

    return *line == ' ' || *line == '\t' || is_ruby(line, n) ||
           is_go(line, n) ||
           (line[0] == '#' && isdigit((unsigned char)line[1])); /* PHP */
}

static char *line_after(const output_t *o, char *line)
{
    char *last = o->tail + o->tail_length;
    char *end = memchr(line, '\n', (size_t)(last - line));

    return end ? end + 1 : last;
}

/* Find the oldest frame of a stack trace, if there is one: Ruby and node print
 * the reason first, and then many frames. */
static void drop_one(output_t *o)
{
    char *last = o->tail + o->tail_length, *line = o->tail, *next;

    while (line < last && !last_lines_is_frame(line))
        line = line_after(o, line);
    if (line == last)
        line = o->tail;
    next = line_after(o, line);
    memmove(line, next, (size_t)(last - next));
    o->tail_length -= (size_t)(next - line);
}

static size_t lines_in(const output_t *o)
{
    size_t i, n = 0;

    for (i = 0; i < o->tail_length; i++)
        n += o->tail[i] == '\n';
    return n;
}

void last_lines_add(output_t *o, const char *line, size_t length)
{
    if (!o->tail || length == 0)
        return;
    if (length > TAIL_MAX / 4)
        length = TAIL_MAX / 4;
    while (o->tail_length + length + 1 > TAIL_MAX || lines_in(o) >= TAIL_LINES)
        drop_one(o);
    memcpy(o->tail + o->tail_length, line, length);
    o->tail[o->tail_length + length] = '\n';
    o->tail_length += length + 1;
}
