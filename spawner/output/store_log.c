/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/output/output.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "system/log.h"
#include "base/contract.h"

#define BATCH 65536 /* bytes before others have their turn */

static loop_source_t fifo = {-1, NULL, NULL};
static char line[LOG_MAX]; /* that has no newline yet; what is longer is cut */
static size_t length;

static void write_line(void)
{
    static log_kind_t kind;
    char text[LOG_MAX + 16];
    const char *from = line;
    int level = LOG_NOTICE;

    line[length] = 0;
    length = 0;
    if (from[0] == '<' && from[1] >= '0' + LOG_ERROR &&
        from[1] <= '0' + LOG_INFO && from[2] == '>') {
        level = from[1] - '0';
        from += 3;
    }
    snprintf(text, sizeof text, "store: %s", from);
    if (*from && log_has(level))
        log_text_of(&kind, level, text);
}

static void take(const char *text, size_t n)
{
    size_t i;

    for (i = 0; i < n; i++)
        if (text[i] == '\n')
            write_line();
        else if (length < sizeof line - 1)
            line[length++] = text[i] ? text[i] : ' ';
}

static void on_lines(void *owner, uint32_t events)
{
    char chunk[8192];
    size_t total = 0;
    ssize_t n;

    (void)owner;
    (void)events;
    while (total < BATCH && (n = read(fifo.fd, chunk, sizeof chunk)) > 0) {
        take(chunk, (size_t)n);
        total += (size_t)n;
    }
}

/* Also open for writing. So there is no end while no store runs. */
void store_log_open(const spawner_t *s)
{
    int fd;

    if (fifo.fd >= 0)
        return;
    fd = openat(s->rt.fd, CONTRACT_STORE_LOG,
                O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
    if (fd >= 0)
        loop_add(&fifo, fd, EPOLLIN, on_lines, NULL);
}
