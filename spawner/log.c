/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/log.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "spawner/contract.h"

static const char *const levels[] = {"error", "warn", "notice", "info"};
static int directory = -1;

void log_directory(int fd)
{
    directory = fd;
}

int log_open(void)
{
    /* No O_CREAT: until a rotated log exists again, CONTRACT_LOG_FD is right.
     * O_NONBLOCK: should the log be a FIFO without a reader. */
    return openat(directory, CONTRACT_ERRORLOG,
                  O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

size_t log_escape(char *to, size_t size, const char *from, size_t length)
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

size_t log_time(char *to, size_t size)
{
    char day[32], year[8];
    struct timespec now;
    struct tm tm;
    int n;

    clock_gettime(CLOCK_REALTIME, &now);
    localtime_r(&now.tv_sec, &tm);
    strftime(day, sizeof day, "%a %b %d %H:%M:%S", &tm);
    strftime(year, sizeof year, "%Y", &tm);
    n = snprintf(to, size, "[%s.%06ld %s] ", day, now.tv_nsec / 1000, year);
    return n > 0 && (size_t)n < size ? (size_t)n : 0;
}

void log_line(int level, const char *format, ...)
{
    char text[LOG_MAX], line[LOG_MAX + 128];
    size_t n;
    va_list args;
    int fd;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    n = log_time(line, sizeof line);
    n += (size_t)snprintf(line + n, sizeof line - n,
                          "[apppool:%s] [pid %d] apppool: ", levels[level],
                          (int)getpid());
    n += log_escape(line + n, sizeof line - n - 1, text, strlen(text));
    line[n++] = '\n';
    fd = log_open();
    if (write(fd < 0 ? CONTRACT_LOG_FD : fd, line, n) < 0) {
        /* Nobody is left to tell. */
    }
    if (fd >= 0)
        close(fd);
}
