/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "system/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/contract.h"
#include "base/clock_ms.h"

#define DROPPED_PAUSE (10 * TOKEN_BUCKET_SECOND)

static int directory = -1;
static int most = LOG_NOTICE;
static log_kind_t *cut; /* kinds with dropped lines */

/* Lines that could not be written. */
static struct {
    unsigned long lines;
    int why;     /* errno of the last one */
    int64_t say; /* us: not logged before that */
} lost;

void log_directory(int fd)
{
    directory = fd;
}

void log_level(int level)
{
    most = level;
}

int log_open(void)
{
    /* No O_CREAT: while a rotated log does not exist, lines go to
     * CONTRACT_LOG_FD. O_NONBLOCK: the log may be a FIFO without a reader. */
    return openat(directory, CONTRACT_ERRORLOG,
                  O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

const char *log_format(void)
{
    static char format[CONTRACT_FORMAT_MAX];
    ssize_t n =
        readlinkat(directory, CONTRACT_ERRORFORMAT, format, sizeof format - 1);

    format[n > 0 ? n : 0] = 0;
    return n > 0 ? format : NULL;
}

size_t log_count(const char *lines, size_t length)
{
    const char *end;
    size_t n = 0;

    for (; (end = memchr(lines, '\n', length)) != NULL; lines = end + 1) {
        length -= (size_t)(end + 1 - lines);
        n++;
    }
    return n;
}

void log_write(const char *lines, size_t length)
{
    int fd = log_open();
    ssize_t n = write(fd < 0 ? CONTRACT_LOG_FD : fd, lines, length);

    if (n != (ssize_t)length) {
        size_t done = n < 0 ? 0 : (size_t)n;

        lost.why = n < 0 ? errno : ENOSPC;
        lost.lines += log_count(lines + done, length - done);
    }
    if (fd >= 0)
        close(fd);
}

static void put(int level, const char *text)
{
    const log_message_t message = {level, "", text, strlen(text)};
    const char *format = log_format();
    char line[LOG_LINE_MAX];
    size_t n = log_format_line(format, &message, line, sizeof line - 1);

    line[n++] = '\n';
    log_write(line, n);
}

/* ---- lines that are too many ---- */

static void drop(log_kind_t *kind, const char *text)
{
    if (kind->logged_at == 0) {
        kind->next = cut;
        cut = kind;
        kind->logged_at = 1;
    }
    kind->dropped++;
    snprintf(kind->last, sizeof kind->last, "%.90s", text);
}

/* The log may have room again. If it has none, this line is lost as well, and
 * the number stays. */
static void say_lost(int64_t now)
{
    unsigned long lines = lost.lines;
    char text[200];

    lost.lines = 0;
    lost.say = now + DROPPED_PAUSE;
    snprintf(text, sizeof text,
             "%lu lines could not be written to this log: %s", lines,
             strerror(lost.why));
    put(LOG_WARN, text);
    if (lost.lines > 0)
        lost.lines = lines;
}

void log_tick(int last)
{
    int64_t now = clock_ms() * 1000;
    char text[200];
    log_kind_t *kind;

    if (lost.lines > 0 && (last || now >= lost.say))
        say_lost(now);
    for (kind = cut; kind; kind = kind->next) {
        if (kind->dropped == 0 ||
            (!last && now - kind->logged_at < DROPPED_PAUSE))
            continue;
        snprintf(text, sizeof text, "%lu lines dropped, the last one: %s",
                 kind->dropped, kind->last);
        put(LOG_WARN, text);
        kind->dropped = 0;
        kind->logged_at = now;
    }
}

void log_forked(void)
{
    log_kind_t *kind;

    for (kind = cut; kind; kind = kind->next)
        kind->dropped = 0;
    lost.lines = 0;
}

int log_has(int level)
{
    return level <= most || level == LOG_NOTICE;
}

int log_text_of(log_kind_t *kind, int level, const char *text)
{
    if (!token_bucket_take(&kind->bucket, clock_ms() * 1000, LOG_RATE,
                           LOG_BURST, 1)) {
        drop(kind, text);
        return 0;
    }
    put(level, text);
    return 1;
}

void log_line_of(log_kind_t *kind, int level, const char *format, ...)
{
    char text[LOG_MAX];
    va_list args;

    if (!log_has(level))
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    log_text_of(kind, level, text);
}
