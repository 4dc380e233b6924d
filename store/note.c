/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/note.h"

#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "base/contract.h"
#include "store/atomic.h"

#define AGAIN INT64_C(60000) /* ms */

static int out = CONTRACT_LOG_FD; /* atomic */
static unsigned lost;             /* atomic: lines that were not written */

/* @return 0; -1: it was not written */
static int put(int level, const char *format, va_list args)
{
    char line[PIPE_BUF];
    int n, text, to = STORE_GET(out);

    n = to == CONTRACT_LOG_FD ? snprintf(line, sizeof line, "apppool-store: ")
                              : snprintf(line, sizeof line, "<%d>", level);
    text = vsnprintf(line + n, sizeof line - (size_t)n, format, args);
    if (text < 0)
        return 0;
    n = text < (int)sizeof line - n ? n + text : (int)sizeof line - 1;
    line[n++] = '\n';
    return write(to, line, (size_t)n) < 0 ? -1 : 0;
}

static int try_to_put(int level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static int try_to_put(int level, const char *format, ...)
{
    va_list args;
    int rv;

    va_start(args, format);
    rv = put(level, format, args);
    va_end(args);
    return rv;
}

static void say_lost(void)
{
    unsigned n = __atomic_exchange_n(&lost, 0, __ATOMIC_RELAXED);

    if (n > 0 && try_to_put(STORE_WARN, "%u lines of this log are lost", n) < 0)
        STORE_ADD(lost, n);
}

/* Also open for reading: so the store is not ended by SIGPIPE, and lines stay
 * in the FIFO, while no spawner runs. */
void store_note_open(int dirfd)
{
    int fd = openat(dirfd, CONTRACT_STORE_LOG,
                    O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);

    if (fd >= 0)
        STORE_SET(out, fd);
}

void store_note_directly(void)
{
    STORE_SET(out, CONTRACT_LOG_FD);
    say_lost();
}

int store_note_is_first(int64_t *at, int64_t now, int64_t ms)
{
    if (*at != 0 && now - *at < ms)
        return 0;
    *at = now;
    return 1;
}

int store_note_is_due(int64_t *at, int64_t now)
{
    return store_note_is_first(at, now, AGAIN);
}

void store_note(int level, const char *format, ...)
{
    va_list args;
    int rv;

    va_start(args, format);
    rv = put(level, format, args);
    va_end(args);
    if (rv < 0)
        STORE_ADD(lost, 1);
    else
        say_lost();
}
