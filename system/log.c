/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "system/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/contract.h"
#include "base/clock_ms.h"

#define DROPPED_PAUSE (10 * TOKEN_BUCKET_SECOND)

/* ---- how a line looks ---- */

static const char *const levels[] = {[LOG_ERROR] = "error",
                                     [LOG_WARN] = "warn",
                                     [LOG_NOTICE] = "notice",
                                     [LOG_INFO] = "info"};

typedef struct {
    char *to;
    size_t size, n;
} out_t;

static void add(out_t *out, const char *text, size_t length)
{
    if (length > out->size - out->n - 1)
        length = out->size - out->n - 1;
    memcpy(out->to + out->n, text, length);
    out->n += length;
}

static void add_text(out_t *out, const char *text)
{
    add(out, text, strlen(text));
}

/* ---- the time ---- */

/* The parts of the time that are the same for a second. */
static struct {
    time_t second;
    struct tm tm;
    char day[32], iso[32], year[8], zone[8];
} this = {.second = -1};

/* @return us behind the second */
static int look_at_clock(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    if (now.tv_sec != this.second) {
        this.second = now.tv_sec;
        localtime_r(&now.tv_sec, &this.tm);
        strftime(this.day, sizeof this.day, "%a %b %d %H:%M:%S", &this.tm);
        strftime(this.iso, sizeof this.iso, "%Y-%m-%d %H:%M:%S", &this.tm);
        strftime(this.year, sizeof this.year, " %Y", &this.tm);
        strftime(this.zone, sizeof this.zone, "%z", &this.tm);
    }
    return (int)(now.tv_nsec / 1000);
}

static void add_time(out_t *out, char kind)
{
    int us = look_at_clock();
    char behind[16];

    if (kind == 'z') {
        add_text(out, this.zone);
        return;
    }
    add_text(out, kind == 'c' || kind == 'C' ? this.iso : this.day);
    if (kind == 'u' || kind == 'C') {
        snprintf(behind, sizeof behind, ".%06d", us);
        add_text(out, behind);
    }
    if (kind == 't' || kind == 'u')
        add_text(out, this.year);
}

/* @param at behind "%{"; @return behind the "}" */
static const char *add_strftime(out_t *out, const char *at)
{
    char format[CONTRACT_FORMAT_MAX], text[CONTRACT_FORMAT_MAX] = "";
    size_t n = strcspn(at, "}");

    if (n < sizeof format) {
        memcpy(format, at, n);
        format[n] = 0;
        look_at_clock();
        add(out, text, strftime(text, sizeof text, format, &this.tm));
    }
    return at + n + (at[n] == '}');
}

/* ---- a line ---- */

size_t log_format_escape(char *to, size_t size, const char *from, size_t length)
{
    static const char hex[] = "0123456789abcdef";
    size_t i, n = 0;

    for (i = 0; i < length && n + 5 < size; i++) {
        unsigned char c = (unsigned char)from[i];

        if (c == '\t' || (c >= 0x20 && c != 0x7f)) {
            to[n++] = (char)c;
            continue;
        }
        to[n++] = '\\';
        to[n++] = 'x';
        to[n++] = hex[c >> 4];
        to[n++] = hex[c & 15];
    }
    to[n] = 0;
    return n;
}

static void add_number(out_t *out, int n)
{
    char text[16];

    snprintf(text, sizeof text, "%d", n);
    add_text(out, text);
}

/* Add what stands before the message, or behind it. @return what is left: it
 * begins with "%M", or is "" */
static const char *add_around(out_t *out, const char *at, int level)
{
    while (*at) {
        size_t n = strcspn(at, "%");

        add(out, at, n);
        at += n;
        if (!at[0] || !at[1])
            return "";
        if (at[1] == 'M')
            return at;
        at += 2;
        if (strchr("tucCz", at[-1]))
            add_time(out, at[-1]);
        else if (at[-1] == '{')
            at = add_strftime(out, at);
        else if (at[-1] == 'l')
            add_text(out, levels[level]);
        else if (at[-1] == 'P')
            add_number(out, (int)getpid());
        else
            add(out, at - 1, 1);
    }
    return at;
}

size_t log_format_line(const char *format, const log_message_t *message,
                       char *to, size_t size)
{
    static const char own[] = "[%u] [apppool:%l] [pid %P] %M";
    char behind[CONTRACT_FORMAT_MAX];
    out_t line = {to, size, 0}, rest = {behind, sizeof behind, 0};
    const char *at = add_around(&line, format ? format : own, message->level);

    if (*at)
        add_around(&rest, at + 2, message->level);
    if (line.n + rest.n > size / 2) {
        /* The time may be much longer than what stands for it. */
        line.n = rest.n = 0;
        add_around(&line, own, message->level);
    }
    line.size -= rest.n;
    add_text(&line, "apppool: ");
    add_text(&line, message->prefix);
    line.n += log_format_escape(to + line.n, line.size - line.n, message->text,
                                message->length);
    line.size = size;
    add(&line, behind, rest.n);
    to[line.n] = 0;
    return line.n;
}

size_t log_format_bare(const log_message_t *message, char *to, size_t size)
{
    out_t line = {to, size, 0};

    add_around(&line, "[%u] ", message->level);
    add_text(&line, message->prefix);
    line.n += log_format_escape(to + line.n, size - line.n, message->text,
                                message->length);
    return line.n;
}

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
