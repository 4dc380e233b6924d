/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/report/start_reason.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "spawner/output/output.h"

#define TEXT_MAX  4096
#define LINES_MAX 64

/* Which reason is kept: a kind does not replace a higher one. */
enum {
    NONE,
    ERROR,   /* a line of any program */
    FIRST,   /* Ruby and Rust: what follows comes from it */
    FINAL,   /* nothing that follows can be the reason */
    COMMAND, /* of the shell */
};

typedef struct {
    char text[TEXT_MAX]; /* the output, with NUL for newline */
    const char *line[LINES_MAX];
    int n;
    int kind; /* of the reason that was found */
    char *reason;
} search_t;

/* ---- lines ---- */

/* How many bytes in this range stand at `at`? */
static size_t span(const char *at, const char *end, unsigned char from,
                   unsigned char to)
{
    const char *c = at;

    while (c < end && (unsigned char)*c >= from && (unsigned char)*c <= to)
        c++;
    return (size_t)(c - at);
}

/* "ESC [ 1 m" sets a colour, "ESC ] 0;TITLE BEL" the title of a window. @return
 * the length of a sequence for terminals; 0: it is none */
static size_t escape(const char *at, const char *end)
{
    const char *from = at;

    if (at == end || *at != '\33')
        return 0;
    at++;
    if (at < end && *at == ']') {
        at += span(at, end, ' ', 0xff);
        return (size_t)(at - from) + (at < end && *at == '\a');
    }
    if (at < end && *at == '[')
        at += 1 + span(at + 1, end, '0', '?');
    at += span(at, end, ' ', '/');
    if (at<end && * at> ' ')
        at++;
    return (size_t)(at - from);
}

static char plain(char c)
{
    return (unsigned char)c < ' ' || c == 0x7f ? ' ' : c;
}

/* The output is cut at its beginning if it is too long. */
static void split(search_t *s, const char *output, size_t length)
{
    const char *end = output + length;
    char *to = s->text;
    size_t n;

    if (length >= TEXT_MAX)
        output = end - TEXT_MAX + 1;
    s->line[0] = to;
    while (output < end && s->n < LINES_MAX) {
        n = escape(output, end);
        if (n == 0) {
            *to = *output == '\n' ? 0 : plain(*output);
            if (*output == '\n' && ++s->n < LINES_MAX)
                s->line[s->n] = to + 1;
            to++;
            n = 1;
        }
        output += n;
    }
    *to = 0;
    if (s->n < LINES_MAX && *s->line[s->n])
        s->n++;
}

static const char *line(const search_t *s, int i)
{
    return i >= 0 && i < s->n ? s->line[i] : "";
}

static const char *after(const char *text, const char *begin)
{
    size_t n = strlen(begin);

    return strncmp(text, begin, n) == 0 ? text + n : NULL;
}

static int ends(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);

    return n >= m && strcmp(text + n - m, end) == 0;
}

static void take(search_t *s, int kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void take(search_t *s, int kind, const char *format, ...)
{
    char text[TEXT_MAX];
    va_list args;
    size_t n;

    if (kind < s->kind || (kind == s->kind && (kind == FIRST || kind == FINAL)))
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    for (n = strlen(text); n > 0 && text[n - 1] == ' '; n--)
        text[n - 1] = 0;
    if (n == 0 || (kind == s->kind && strncmp(s->reason, text, n) == 0))
        return; /* it is there, perhaps with its cause */
    s->kind = kind;
    start_reason_fit(s->reason, START_REASON_MAX, text);
}

/* A message that goes on below its first line: "ValidationError: 1 validation
 * error for Settings" and the name of the setting. */
static void take_message(search_t *s, int kind, const char *text, int i)
{
    if (ends(text, ": "))
        take(s, kind, "%s%s", text, line(s, i + 1));
    else if (ends(text, ":") || ends(text, "{") ||
             strstr(text, " validation error"))
        take(s, kind, "%s %s", text, line(s, i + 1));
    else
        take(s, kind, "%s", text);
}

/* ---- what the lines of programs look like ---- */

/* "ModuleNotFoundError: ...", "Error [ERR_X]: ...",
 * "java.lang.X.YException". */
static int is_exception(const char *text)
{
    static const char *const ends_with[] = {"Error", "Exception", "Rejection",
                                            "ImproperlyConfigured"};
    size_t n = 0, i, m;

    while (isalnum((unsigned char)text[n]) ||
           strchr("_.$", text[n] ? text[n] : ' '))
        n++;
    if (text[n] && text[n] != ':' && strncmp(text + n, " [", 2) != 0)
        return 0;
    for (i = 0; i < sizeof ends_with / sizeof *ends_with; i++) {
        m = strlen(ends_with[i]);
        if (n >= m && strncmp(text + n - m, ends_with[i], m) == 0)
            return 1;
    }
    return 0;
}

/* "  File "/srv/app.py", line 1" of Python, "/srv/app.js:1" of node. */
static const char *place(const search_t *s, int i)
{
    const char *text, *colon;

    while (--i >= 0) {
        text = line(s, i);
        colon = strrchr(text, ':');
        if (after(text, "  File \""))
            return text + 2;
        if ((*text == '/' || after(text, "file://")) && colon &&
            isdigit((unsigned char)colon[1]) && !strchr(text, ' '))
            return text;
    }
    return NULL;
}

/* A syntax error does not name the file, other than its first frame. */
static void take_exception(search_t *s, int i)
{
    const char *text = line(s, i), *where = NULL;

    if (after(text, "SyntaxError: ") || after(text, "IndentationError: ") ||
        after(text, "TabError: "))
        where = place(s, i);
    if (where)
        take(s, ERROR, "%s (%s)", text, where);
    else
        take_message(s, ERROR, text, i);
}

/* Python names the cause of an exception above it. What was being handled says
 * more only if the exception has no message. */
static void take_chained(search_t *s, int i, int at)
{
    const char *link = line(s, i - 1);
    char above[START_REASON_MAX];
    int is_cause = after(link, "The above exception was the direct cause") != 0;
    int kind = s->kind;

    memcpy(above, s->reason, sizeof above);
    take_exception(s, at);
    if (kind == ERROR && s->kind == ERROR &&
        (is_cause || (after(link, "During handling of the above exception") &&
                      !strchr(s->reason, ' '))))
        take(s, ERROR, "%s (cause: %s)", s->reason, above);
}

/* Python: the line behind the frames. It may be of any class. */
static void python(search_t *s, int i)
{
    int at = i;

    if (!ends(line(s, i), "Traceback (most recent call last):") ||
        last_lines_is_frame(line(s, i)))
        return;
    do
        at++;
    while (at < s->n && last_lines_is_frame(line(s, at)));
    if (at < s->n)
        take_chained(s, i, at);
}

/* "  | ExceptionGroup: MESSAGE (2 sub-exceptions)" of Python, and below it,
 * deeper than that, the first exception: it says more. */
static void group(search_t *s, int i)
{
    const char *text = after(line(s, i), "  | "), *within;

    if (!text || *text == ' ' || !strstr(text, " sub-exception"))
        return;
    take(s, ERROR, "%s", text);
    for (i++; i < s->n && *line(s, i) == ' '; i++) {
        within = line(s, i);
        within += strspn(within, " ");
        within = after(within, "| ");
        if (within && *within != ' ' && !after(within, "Traceback ") &&
            !strstr(within, " sub-exception")) {
            take(s, ERROR, "%s: %s", text, within);
            return;
        }
    }
}

/* Ruby: "FILE:1:in `f': MESSAGE (CLASS)", "FILE:1: syntax error, ...". */
static void ruby(search_t *s, int i)
{
    const char *text = line(s, i), *at = text, *message;
    char *end;

    if (last_lines_is_frame(text) || after(text, "! Unable to load "))
        return;
    while ((at = strchr(at, ':')) != NULL) {
        at++;
        if (!isdigit((unsigned char)*at))
            continue;
        strtoul(at, &end, 10);
        message = after(end, ":in ");
        if (message)
            message = strstr(message, "': ");
        if (message && after(message + 3, "--> "))
            return; /* syntax_suggest comes first, Ruby's own words below */
        if (message)
            take(s, FIRST, "%s", message + 3);
        else if (after(end, ": ") &&
                 (ends(end, "Error)") || after(end, ": syntax error")))
            take(s, FIRST, "%s", text);
    }
}

/* node: "FILE:1", the line of the source, a caret, and what was thrown: any
 * class, or any other value. */
static void node(search_t *s, int i)
{
    const char *text = line(s, i), *at = line(s, i - 2);
    const char *colon = *at == ' ' ? NULL : strrchr(at, ':');

    if (strchr(text, '^') && !text[strspn(text, " ^")] && colon &&
        isdigit((unsigned char)colon[1]) &&
        !last_lines_is_frame(line(s, i + 1)))
        take_exception(s, i + 1);
}

/* node: "  [cause]: Error: ..." within the fields of an error */
static void cause(search_t *s, int i)
{
    const char *text = line(s, i) + strspn(line(s, i), " ");

    text = after(text, "[cause]: ");
    if (text && s->kind == ERROR)
        take(s, ERROR, "%s (cause: %s)", s->reason, text);
}

/* The words that begin a line of a program that ends. */
static const struct {
    const char *begin;
    int kind;
    int keep;  /* these words belong to the reason */
    int below; /* the reason is this many lines below */
} beginnings[] = {
    {"panic: ", FINAL, 1, 0},       /* Go */
    {"fatal error: ", FINAL, 1, 0}, /* Go */
    {"FATAL ERROR: ", FINAL, 1, 0}, /* node, without memory */
    {"PHP Fatal error:  ", ERROR, 1, 0},
    {"PHP Parse error:  ", ERROR, 1, 0},
    {"Fatal error: ", ERROR, 1, 0},
    {"Parse error: ", ERROR, 1, 0},
    {"Caused by: ", ERROR, 0, 0},     /* Java */
    {"Could not find ", ERROR, 1, 0}, /* Bundler */
    {"Your Ruby version is ", ERROR, 1, 0},
    {"bundler: command not found: ", ERROR, 1, 0},
    {"Can't locate ", ERROR, 1, 0}, /* Perl */
    {"npm ERR! Missing script: ", ERROR, 1, 0},
    {"npm error Missing script: ", ERROR, 1, 0},
    {"Unhandled exception. ", ERROR, 0, 0},            /* .NET */
    {"Unhandled exception: ", ERROR, 0, 0},            /* Crystal */
    {"error: ", ERROR, 1, 0},                          /* Deno, Bun, clap */
    {"There was an exception (", ERROR, 0, 2},         /* waitress */
    {"Error while loading ", ERROR, 1, 0},             /* Plack */
    {"Failed to find attribute ", ERROR, 1, 0},        /* gunicorn */
    {"ERROR:    Error loading ASGI app", ERROR, 1, 0}, /* uvicorn */
    {"Description:", ERROR, 0, 1},                     /* Spring Boot */
    {"! Unable to load application: ", ERROR, 0, 0},   /* puma */
};

/* Rust: "thread 'main' (4711) panicked at FILE:1:2:", and the message below. */
static int panicked(search_t *s, int i)
{
    const char *text = line(s, i);

    if (!after(text, "thread '") || !strstr(text, " panicked at "))
        return 0;
    take_message(s, FIRST, text, i);
    return 1;
}

/* "npm error code X", some fields, and the message, which counts if the script
 * has not said why it has failed. */
static void npm(search_t *s, int i)
{
    static const char fields[] =
        " code syscall path dest errno signal command cwd workspace location ";
    const char *text = line(s, i), *begin = "npm error ", *rest;
    char word[32];

    if (!after(text, begin))
        begin = "npm ERR! ";
    rest = after(text, begin);
    if (s->kind != NONE || !rest || !after(rest, "code "))
        return;
    while ((rest = after(line(s, ++i), begin)) != NULL) {
        snprintf(word, sizeof word, " %.*s ", (int)strcspn(rest, " "), rest);
        if (!strstr(fields, word)) {
            take(s, ERROR, "%s", line(s, i));
            return;
        }
    }
}

/* The lines of these programs are known by other words than their first
 * ones. */
static int known(search_t *s, int i)
{
    const char *text = line(s, i), *elixir = text + strspn(text, " "), *at;

    if (after(elixir, "** ("))
        take_message(s, ERROR, elixir, i);
    else if ((at = strstr(text, "The promise rejected with the reason ")))
        take(s, ERROR, "%s", at); /* node */
    else if (ends(text, " aborted due to compilation errors."))
        take(s, ERROR, "%s", line(s, i - 1)); /* Perl */
    else if (after(text, "Exception in thread \"") &&
             (at = strstr(text, "\" ")))
        take(s, ERROR, "%s", at + 2); /* Java */
    else
        return panicked(s, i);
    return 1;
}

static void words(search_t *s, int i)
{
    const char *text = line(s, i), *rest;
    size_t n;

    if (known(s, i))
        return;
    for (n = 0; n < sizeof beginnings / sizeof *beginnings; n++) {
        rest = after(text, beginnings[n].begin);
        if (!rest)
            continue;
        if (beginnings[n].below)
            rest = line(s, i + beginnings[n].below);
        if (*rest)
            take_message(s, beginnings[n].kind,
                         beginnings[n].keep ? text : rest, i);
        return;
    }
    if (is_exception(text))
        take_exception(s, i);
}

/* ---- an address that is in use ---- */

static int is_in_use(const char *text)
{
    return strcasestr(text, "address already in use") ||
           strstr(text, "EADDRINUSE") || strstr(text, "Connection in use: ") ||
           strstr(text, " was already in use");
}

unsigned start_reason_port(const char *reason)
{
    unsigned long number, port = 0;
    const char *at = reason;
    char *end;

    if (!is_in_use(reason))
        return 0;
    for (; *at; at = end) {
        at += strcspn(at, "0123456789");
        if (!*at)
            break;
        number = strtoul(at, &end, 10);
        /* Others are times, or the number of the error. */
        if (number >= 80 && number < 65536 && number != EADDRINUSE)
            port = number;
    }
    return (unsigned)port;
}

/* ---- a command that cannot be executed ---- */

/* The first one means a missing interpreter as well. */
static const struct {
    const char *end, *what;
} refusals[] = {
    {": not found", "was not found"},
    {": command not found", "was not found"},
    {": No such file or directory", "was not found"},
    {": cannot execute: required file not found",
     "cannot be executed: the interpreter of its first line (#!) was not "
     "found"},
    {": bad interpreter: No such file or directory",
     "cannot be executed: the interpreter of its first line (#!) was not "
     "found"},
    {": cannot execute: Permission denied", "may not be executed"},
    {": Permission denied", "may not be executed"},
};

/* "sh: 1: exec: WORD: not found", "env: 'WORD': No such file or directory". */
static void shell(search_t *s, int i)
{
    const char *text = line(s, i), *word = NULL, *what = NULL;
    size_t n, length = 0;

    for (n = 0; n < sizeof refusals / sizeof *refusals; n++)
        if (ends(text, refusals[n].end)) {
            size_t all = strlen(text) - strlen(refusals[n].end);

            for (word = text + all; word > text; word--)
                if (word - text >= 2 && word[-1] == ' ' && word[-2] == ':')
                    break;
            length = all - (size_t)(word - text);
            what = refusals[n].what;
        }
    if (!what || word == text)
        return;
    while (length > 0 && strchr("'`\"", *word)) {
        word++;
        length--;
    }
    while (length > 0 && strchr("'`\"", word[length - 1]))
        length--;
    if (length >= 6 && strncmp(word, "\xE2\x80\x98", 3) == 0) { /* quotes */
        word += 3;
        length -= 6;
    }
    if (length == 6 && strncmp(word, "source", 6) == 0)
        take(s, COMMAND, "sh does not know source: write . ./FILE");
    else if (length > 0)
        take(s, COMMAND, "%.*s %s%s", (int)length, word, what,
             ends(text, refusals[0].end) && memchr(word, '/', length)
                 ? ", or the interpreter of its first line (#!) was not"
                 : "");
}

/* ---- the search ---- */

int start_reason_find(const char *output, size_t length, int no_command,
                      char reason[START_REASON_MAX])
{
    search_t s = {.reason = reason};
    int i;

    *reason = 0;
    split(&s, output, length);
    for (i = 0; i < s.n; i++) {
        python(&s, i);
        group(&s, i);
        ruby(&s, i);
        node(&s, i);
        cause(&s, i);
        npm(&s, i);
        words(&s, i);
        if (is_in_use(s.line[i]) && s.kind < FIRST && !is_in_use(reason))
            take(&s, ERROR, "%s", s.line[i]);
        if (no_command)
            shell(&s, i);
    }
    return s.kind != NONE;
}

void start_reason_fit(char *to, size_t size, const char *text)
{
    static const char more[] = "...";
    size_t n = strlen(text), end;

    if (n < size) {
        memcpy(to, text, n + 1);
        return;
    }
    end = n = size - sizeof more;
    while (end > n / 2 && text[end] != ' ')
        end--;
    if (text[end] != ' ') /* one long word: at a character of UTF-8 */
        for (end = n; end > 0 && (text[end] & 0xC0) == 0x80; end--)
            ;
    memcpy(to, text, end);
    memcpy(to + end, more, sizeof more);
}
