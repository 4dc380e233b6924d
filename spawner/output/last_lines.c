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
    o->tail_lines = o->tail_frames = 0;
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

/* Go: "main.(*shop).open(0xc000012345, {0x1, 0x2})",
 * "goroutine 1 [running]:" */
static int is_go(const char *line, size_t n)
{
    const char *args = memrchr(line, '(', n), *dot = memchr(line, '.', n);

    return (n > 10 && memcmp(line, "goroutine ", 10) == 0) ||
           (args && dot && dot < args && line[n - 1] == ')' &&
            !memchr(line, ' ', (size_t)(args - line)) &&
            strspn(args, "(){}, .?_xabcdef0123456789") ==
                n - (size_t)(args - line));
}

/* node itself: "10: 0x10b7fb4 v8::internal::Factory" */
static int is_native(const char *line)
{
    size_t n = strspn(line, "0123456789");

    return n > 0 && strncmp(line + n, ": 0x", 4) == 0;
}

/* What else belongs to a stack trace. */
static int is_around(const char *line, size_t n)
{
    static const char *const begins[] = {
        "created by ",          /* Go */
        "Node.js v",            /* its last line */
        "note: run with `RUST", /* Rust */
        "note: Some details are omitted",
        "stack backtrace:",
        "stack traceback:", /* Lua */
        "Stack trace:",     /* PHP */
        "CallStack (from ", /* Haskell */
    };
    size_t i;

    for (i = 0; i < sizeof begins / sizeof *begins; i++)
        if (strncmp(line, begins[i], strlen(begins[i])) == 0)
            return 1;
    return n == 1 && *line == '}'; /* node: the end of an error's fields */
}

/* Lines that are indented and say why: those of a group of exceptions in Python
 * ("    | ValueError: no db"), and the cause of an error in node. */
static int is_message_within(const char *line)
{
    const char *text = line + strspn(line, " ");

    return text != line &&
           (strncmp(text, "[cause]: ", 9) == 0 ||
            (strncmp(text, "| ", 2) == 0 && !strchr(" \t\n", text[2]) &&
             strncmp(text + 2, "Traceback ", 10) != 0));
}

int last_lines_is_frame(const char *line)
{
    size_t n = strcspn(line, "\n");

    if (is_message_within(line))
        return 0;
    return *line == ' ' || *line == '\t' || is_ruby(line, n) ||
           is_go(line, n) || is_native(line) || is_around(line, n) ||
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

    while (o->tail_frames > 0 && !last_lines_is_frame(line))
        line = line_after(o, line);
    o->tail_frames -= o->tail_frames > 0;
    o->tail_lines--;
    next = line_after(o, line);
    memmove(line, next, (size_t)(last - next));
    o->tail_length -= (size_t)(next - line);
}

void last_lines_add(output_t *o, const char *line, size_t length)
{
    char *to, *nul;

    if (!o->tail || length == 0)
        return;
    if (length > TAIL_MAX / 4)
        length = TAIL_MAX / 4;
    while (o->tail_length + length + 1 > TAIL_MAX ||
           o->tail_lines >= TAIL_LINES)
        drop_one(o);
    to = o->tail + o->tail_length;
    memcpy(to, line, length);
    to[length] = '\n';
    while ((nul = memchr(to, 0, length)) != NULL)
        *nul = ' ';
    o->tail_length += length + 1;
    o->tail_lines++;
    o->tail_frames += (unsigned)last_lines_is_frame(to);
}
