/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "ctl/store_lines.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock_ms.h"

void store_lines_begin(store_lines_t *l, int fd, int limit, size_t each)
{
    memset(l, 0, sizeof *l);
    l->fd = fd;
    l->limit = limit * 1000;
    l->each = each;
}

static void count(store_lines_t *l, size_t n)
{
    l->got += n;
    if (l->each == 0 || l->got < l->each)
        return;
    l->got = 0;
    l->waited = 0;
}

/* @return as store_lines_next() */
static int read_more(store_lines_t *l)
{
    struct pollfd one = {l->fd, POLLIN, 0};
    int64_t began = clock_ms();
    ssize_t n;
    int rv;

    if (l->waited >= l->limit)
        return -1;
    rv = poll(&one, 1, (int)(l->limit - l->waited));
    l->waited += clock_ms() - began;
    if (rv == 0)
        return -1;
    n = recv(l->fd, l->bytes, sizeof l->bytes, MSG_DONTWAIT);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return 1;
    if (n <= 0)
        return 0;
    l->at = 0;
    l->end = (size_t)n;
    count(l, l->end);
    return 1;
}

int store_lines_next(store_lines_t *l, char *line, size_t size)
{
    size_t n = 0;
    int rv = 1;

    while (rv == 1 && n < size - 1 && (n == 0 || line[n - 1] != '\n')) {
        if (l->at < l->end)
            line[n++] = l->bytes[l->at++];
        else
            rv = read_more(l);
    }
    line[n] = 0;
    line[strcspn(line, "\r\n")] = 0;
    return rv == 0 && n > 0 ? 1 : rv;
}
