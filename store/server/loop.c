/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/server/loop.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#define EVENTS 64

/* One for each descriptor, which is its index. */
typedef struct {
    void (*on_event)(void *ctx); /* NULL: it is not watched */
    void *ctx;
    uint32_t turn; /* grows with each use of this descriptor, so an event of an
                      older use is recognized */
} source_t;

static int epoll = -1;
static source_t *sources;
static int n_sources;

int store_loop_begin(void)
{
    epoll = epoll_create1(EPOLL_CLOEXEC);
    return epoll < 0 ? -1 : 0;
}

static source_t *source_of(int fd)
{
    return fd >= 0 && fd < n_sources ? &sources[fd] : NULL;
}

static int make_room(int fd)
{
    int n = fd + EVENTS;
    source_t *more;

    if (fd < n_sources)
        return 0;
    more = realloc(sources, (size_t)n * sizeof *more);
    if (!more)
        return -1;
    memset(more + n_sources, 0, (size_t)(n - n_sources) * sizeof *more);
    sources = more;
    n_sources = n;
    return 0;
}

int store_loop_watch(int fd, void (*on_event)(void *ctx), void *ctx)
{
    struct epoll_event event = {.events = EPOLLIN};
    source_t *s;

    if (fd < 0) {
        errno = EBADF;
        return -1;
    }
    if (make_room(fd) != 0)
        return -1;
    s = &sources[fd];
    event.data.u64 = (uint64_t)(s->turn + 1) << 32 | (uint32_t)fd;
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0)
        return -1;
    s->turn++;
    s->on_event = on_event;
    s->ctx = ctx;
    return 0;
}

/* A copy of the descriptor may be elsewhere, as in the mailbox. So its end does
 * not take it out of the epoll. */
void store_loop_unwatch(int fd)
{
    source_t *s = source_of(fd);

    if (!s || !s->on_event)
        return;
    s->on_event = NULL;
    epoll_ctl(epoll, EPOLL_CTL_DEL, fd, NULL);
}

void store_loop_turn(int ms)
{
    struct epoll_event events[EVENTS];
    int i, n = epoll_wait(epoll, events, EVENTS, ms);

    for (i = 0; i < n; i++) {
        const source_t *s = source_of((int)(uint32_t)events[i].data.u64);

        if (s && s->on_event && s->turn == events[i].data.u64 >> 32)
            s->on_event(s->ctx);
    }
}
