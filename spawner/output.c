/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "spawner/log.h"
#include "spawner/state.h"

#define LINE_MAX_  8192
#define BATCH      65536 /* bytes of one app before others have their turn */
#define TAIL_MAX   2048
#define TAIL_LINES 20

/* The log of one batch: opened with its first line. */
typedef struct {
    process_t *p;
    int fd;
    int own; /* AppLog, which needs no "apppool:" */
} sink_t;

void output_keep(output_t *output)
{
    if (!output->tail)
        output->tail = malloc(TAIL_MAX);
    output->tail_length = 0;
}

void output_forget_tail(output_t *output)
{
    free(output->tail);
    output->tail = NULL;
}

void output_forget(output_t *output)
{
    free(output->tail);
    free(output->partial);
    memset(output, 0, sizeof *output);
}

/* ---- the last lines ---- */

static void drop_oldest(output_t *o)
{
    char *end = memchr(o->tail, '\n', o->tail_length);
    size_t n = end ? (size_t)(end - o->tail) + 1 : o->tail_length;

    o->tail_length -= n;
    memmove(o->tail, o->tail + n, o->tail_length);
}

static size_t lines_in(const output_t *o)
{
    size_t i, n = 0;

    for (i = 0; i < o->tail_length; i++)
        n += o->tail[i] == '\n';
    return n;
}

static void remember(output_t *o, const char *line, size_t length)
{
    if (!o->tail || length == 0)
        return;
    if (length > TAIL_MAX / 4)
        length = TAIL_MAX / 4;
    while (o->tail_length + length + 1 > TAIL_MAX || lines_in(o) >= TAIL_LINES)
        drop_oldest(o);
    memcpy(o->tail + o->tail_length, line, length);
    o->tail[o->tail_length + length] = '\n';
    o->tail_length += length + 1;
}

/* ---- the log ---- */

static void open_sink(sink_t *sink)
{
    process_t *p = sink->p;

    if (p->log[0]) {
        sink->fd = output_open(p->log, p->is.uid, p->is.gid);
        sink->own = sink->fd >= 0;
        if (sink->own)
            return;
        log_line(LOG_ERROR, "%s[%d] AppLog %s cannot be opened: %s", p->label,
                 (int)p->is.pid, p->log, strerror(errno));
        p->log[0] = 0; /* said once; until the table is loaded again */
    }
    sink->fd = log_open();
    if (sink->fd < 0)
        sink->fd = dup(CONTRACT_LOG_FD);
}

static void emit(sink_t *sink, const char *text, size_t length)
{
    static char line[LINE_MAX_ * 4 + 256];
    process_t *p = sink->p;
    size_t n;

    if (length > 0 && text[length - 1] == '\r')
        length--;
    remember(&p->output, text, length);
    if (sink->fd == -1)
        open_sink(sink);
    n = log_time(line, sizeof line);
    if (!sink->own)
        n += (size_t)snprintf(
            line + n, sizeof line - n,
            "[apppool:info] [pid %d] apppool: ", (int)getpid());
    n += (size_t)snprintf(line + n, sizeof line - n, "%s[%d] ", p->label,
                          (int)p->is.pid);
    n += log_escape(line + n, sizeof line - n - 1, text, length);
    line[n++] = '\n';
    if (sink->fd >= 0 && write(sink->fd, line, n) < 0) {
        /* The disk is full, say: what can be done is done. */
    }
}

/* Add to the line that has no end yet. */
static void extend(sink_t *sink, const char *text, size_t length)
{
    output_t *o = &sink->p->output;
    size_t room = LINE_MAX_ - o->length;

    if (o->cut || length == 0)
        return;
    if (!o->partial)
        o->partial = malloc(LINE_MAX_);
    if (!o->partial)
        return;
    if (length > room) {
        length = room;
        o->cut = 1;
    }
    memcpy(o->partial + o->length, text, length);
    o->length += length;
}

static void end_line(sink_t *sink)
{
    output_t *o = &sink->p->output;

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

        if (end && !o->partial && !o->cut && n <= LINE_MAX_)
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

int output_drain(process_t *p)
{
    static char chunk[16384];
    sink_t sink = {p, -1, 0};
    size_t total = 0;
    ssize_t n = -1;

    if (p->fifo.fd < 0)
        return 0;
    while (total < BATCH && (n = read(p->fifo.fd, chunk, sizeof chunk)) > 0) {
        take(&sink, chunk, (size_t)n);
        total += (size_t)n;
    }
    if (sink.fd >= 0)
        close(sink.fd);
    return n != 0;
}

void output_finish(process_t *p)
{
    sink_t sink = {p, -1, 0};

    output_drain(p);
    if (p->output.partial)
        end_line(&sink);
    if (sink.fd >= 0)
        close(sink.fd);
}
