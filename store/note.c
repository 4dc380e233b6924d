/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/note.h"

#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "spawner/shared/contract.h"

#define AGAIN INT64_C(60000) /* ms */

static int out = CONTRACT_LOG_FD; /* atomic */

/* Also open for reading: so the store is not ended by SIGPIPE, and lines stay
 * in the FIFO, while no spawner runs. */
void store_note_open(int dirfd)
{
    int fd = openat(dirfd, CONTRACT_STORE_LOG,
                    O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);

    if (fd >= 0)
        __atomic_store_n(&out, fd, __ATOMIC_RELAXED);
}

void store_note_directly(void)
{
    __atomic_store_n(&out, CONTRACT_LOG_FD, __ATOMIC_RELAXED);
}

int store_note_is_due(int64_t *at, int64_t now)
{
    if (*at != 0 && now - *at < AGAIN)
        return 0;
    *at = now;
    return 1;
}

void store_note(int level, const char *format, ...)
{
    char line[PIPE_BUF];
    va_list args;
    int n, text, to = __atomic_load_n(&out, __ATOMIC_RELAXED);

    n = to == CONTRACT_LOG_FD ? snprintf(line, sizeof line, "apppool-store: ")
                              : snprintf(line, sizeof line, "<%d>", level);
    va_start(args, format);
    text = vsnprintf(line + n, sizeof line - (size_t)n, format, args);
    va_end(args);
    if (text < 0)
        return;
    n = text < (int)sizeof line - n ? n + text : (int)sizeof line - 1;
    line[n++] = '\n';
    if (write(to, line, (size_t)n) < 0) {
        /* There is no place left to report this. */
    }
}
