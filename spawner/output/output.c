/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/output/output.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "system/log.h"
#include "spawner/process/process.h"

#define LINE_MAX_ 8192 /* of a line; a longer one is cut off */
#define MARK_MAX  64   /* for the text at the end that says so */
#define RAW_MAX   (LOG_PROGRAM_MAX - MARK_MAX) /* as the app prints it */
#define BATCH     65536 /* bytes of one app before others have their turn */
#define PAUSE     (SECOND / 20) /* of a process that prints too much */
#define SAY_FIRST SECOND /* from the first dropped line to the log line */
#define SAY_PAUSE (10 * SECOND)

/* The lines of one batch. */
typedef struct {
    process_t *p;
    size_t used; /* bytes in `lines` */
    unsigned n;
    int logged; /* they are in a log: they are only kept */
} sink_t;

static char lines[LOG_PROGRAM_MAX];

void output_forget(output_t *output)
{
    last_lines_forget(output);
    free(output->partial);
    log_writer_put(output->writer);
    memset(output, 0, sizeof *output);
}

/* ---- the log ---- */

/* Does a child write the lines of the process? */
static int has_writer(const process_t *p)
{
    return p->app.log && log_writer_can_send(p->app.log, p->is.uid);
}

/* Do its lines go to a log that is not an error log? */
static int has_own(const process_t *p)
{
    return has_writer(p) && *p->app.log != LOG_PROGRAM_ERRORLOG;
}

static int is_raw(const process_t *p)
{
    return has_own(p) && p->app.log_raw;
}

static void flush(sink_t *sink)
{
    process_t *p = sink->p;

    if (sink->used == 0)
        return;
    if (has_writer(p)) {
        if (!p->output.writer)
            p->output.writer = log_writer_get(p->app.log, p->app.log_raw,
                                              p->is.uid, p->is.gid);
        if (p->output.writer)
            log_writer_send(p->output.writer, lines, sink->used, sink->n);
    }
    else
        log_write(lines, sink->used);
    sink->used = sink->n = 0;
}

/* The error log may be a pipe. A longer write to a pipe may be mixed with
 * others. */
static void add(sink_t *sink, const char *line, size_t length)
{
    size_t room = has_own(sink->p) ? sizeof lines : PIPE_BUF;

    if (sink->used + length > room)
        flush(sink);
    memcpy(lines + sink->used, line, length);
    sink->used += length;
    sink->n++;
}

static void drop(process_t *p)
{
    if (p->output.dropped++ == 0 && p->output.say < state_spawner()->now)
        p->output.say = state_spawner()->now + SAY_FIRST;
    p->output.over = 1;
}

static size_t copy(char line[LOG_PROGRAM_MAX], const char *text, size_t length)
{
    memcpy(line, text, length);
    return length;
}

/* @return 0: it was too much */
static int emit(sink_t *sink, const char *text, size_t length)
{
    static char line[LOG_PROGRAM_MAX];
    process_t *p = sink->p;
    char name[sizeof p->label + 32];
    log_message_t message = {LOG_INFO, name, text, 0};
    size_t n;

    if (length > 0 && text[length - 1] == '\r')
        length--;
    last_lines_add(&p->output, text, length);
    if (!log_rules_allow(&p->output.bucket, has_own(p), state_spawner()->now,
                         length)) {
        if (!sink->logged)
            drop(p);
        return 0;
    }
    snprintf(name, sizeof name, PROCESS_FMT "> ", PROCESS_NAME(p));
    message.length = length;
    n = log_format_bare(&message, line, LOG_RULES_LINE_MAX - 1);
    recent_output_add(p, line, n);
    if (sink->logged)
        return 1;
    if (!has_own(p))
        n = log_format_line(p->app.error_format, &message, line,
                            LOG_RULES_LINE_MAX - 1);
    else if (is_raw(p))
        n = copy(line, text, length);
    line[n++] = '\n';
    add(sink, line, n);
    return 1;
}

/* The part of a line that is left out also costs tokens. */
static void leave_out(process_t *p, size_t length)
{
    if (!log_rules_allow(&p->output.bucket, has_own(p), state_spawner()->now,
                         length))
        p->output.over = 1;
}

static size_t longest(const process_t *p)
{
    return is_raw(p) ? RAW_MAX : LINE_MAX_;
}

/* Add to the line that has no newline yet. */
static void extend(sink_t *sink, const char *text, size_t length)
{
    output_t *o = &sink->p->output;
    size_t kept;

    if (length == 0)
        return;
    if (!o->partial) {
        o->room = longest(sink->p);
        o->partial = malloc(o->room + MARK_MAX);
    }
    if (!o->partial)
        return;
    kept = length < o->room - o->length ? length : o->room - o->length;
    memcpy(o->partial + o->length, text, kept);
    o->length += kept;
    if (kept < length) {
        o->cut += length - kept;
        leave_out(sink->p, length - kept);
    }
}

static void end_line(sink_t *sink)
{
    output_t *o = &sink->p->output;

    if (o->cut > 0)
        o->length += (size_t)snprintf(o->partial + o->length, MARK_MAX,
                                      " [... %llu bytes left out]",
                                      (unsigned long long)o->cut);
    if (o->partial)
        emit(sink, o->partial, o->length);
    free(o->partial);
    o->partial = NULL;
    o->length = 0;
    o->cut = 0;
}

static void take(sink_t *sink, const char *text, size_t length)
{
    output_t *o = &sink->p->output;

    while (length > 0) {
        const char *end = memchr(text, '\n', length);
        size_t n = end ? (size_t)(end - text) : length;

        if (end && !o->partial && n <= longest(sink->p))
            emit(sink, text, n);
        else {
            extend(sink, text, n);
            if (end)
                end_line(sink);
        }
        n += end != NULL;
        text += n;
        length -= n;
    }
}

void output_add(process_t *p, const char *text, size_t length, int logged)
{
    sink_t sink = {p, 0, 0, logged};
    const char *last = text + length, *end;
    int fits = 1;

    for (; fits && (end = memchr(text, '\n', (size_t)(last - text))) != NULL;
         text = end + 1)
        fits = emit(&sink, text, (size_t)(end - text));
    if (!logged)
        p->output.dropped += log_count(text, (size_t)(last - text));
    flush(&sink);
}

/* Read `most` bytes, and perhaps some more. @return as output_read() */
static int read_some(process_t *p, size_t most)
{
    static char chunk[16384];
    sink_t sink = {p, 0, 0, 0};
    size_t total = 0;
    ssize_t n = -1;

    if (p->fifo.fd < 0)
        return 0;
    p->output.over = 0;
    while (total < most && (n = read(p->fifo.fd, chunk, sizeof chunk)) > 0) {
        take(&sink, chunk, (size_t)n);
        total += (size_t)n;
    }
    flush(&sink);
    if (n != 0 && p->output.over) {
        loop_pause(&p->fifo);
        p->output.resume = state_spawner()->now + PAUSE;
        state_wake(state_spawner(), p->output.resume);
    }
    return n != 0;
}

int output_read(process_t *p)
{
    return read_some(p, BATCH);
}

/* An app can make its FIFO larger than a batch. What processes print meanwhile
 * is not waited for. */
void output_finish(process_t *p)
{
    sink_t sink = {p, 0, 0, 0};
    int left = 0;

    if (p->fifo.fd >= 0 && ioctl(p->fifo.fd, FIONREAD, &left) == 0 && left > 0)
        read_some(p, (size_t)left);
    if (p->output.partial)
        end_line(&sink);
    flush(&sink);
}

static int is_same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

void output_to(process_t *p, const char *route, int raw, const char *format)
{
    if (!is_same(p->app.error_format, format)) {
        free(p->app.error_format);
        p->app.error_format = format ? strdup(format) : NULL;
    }
    if (is_same(p->app.log, route) && p->app.log_raw == raw)
        return;
    log_writer_put(p->output.writer);
    p->output.writer = NULL;
    free(p->app.log);
    p->app.log = route ? strdup(route) : NULL;
    p->app.log_raw = raw;
}

/* ---- what was too much ---- */

static void say_dropped(const spawner_t *s, process_t *p)
{
    output_t *o = &p->output;

    if (o->dropped == 0 || s->now < o->say)
        return;
    app_log(p, LOG_WARN, "prints too much: %llu lines dropped",
            (unsigned long long)o->dropped);
    o->dropped = 0;
    o->say = s->now + SAY_PAUSE;
}

/* An app that prints much and ends at once has no other moment. */
void output_end(spawner_t *s, process_t *p)
{
    output_finish(p);
    p->output.say = 0;
    say_dropped(s, p);
}

void output_tick(spawner_t *s, process_t *p)
{
    output_t *o = &p->output;

    say_dropped(s, p);
    if (o->resume == 0)
        return;
    if (s->now < o->resume)
        state_wake(s, o->resume);
    else {
        o->resume = loop_resume(&p->fifo) == 0 ? 0 : s->now + PAUSE;
        state_wake(s, s->now);
    }
}
