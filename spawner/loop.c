/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/loop.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#define BATCH 64

static int epoll = -1;
static struct epoll_event events[BATCH];
static int n_events;

int loop_open(void)
{
    epoll = epoll_create1(EPOLL_CLOEXEC);
    return epoll < 0 ? -1 : 0;
}

int loop_add(loop_source_t *source, int fd, uint32_t wanted,
             loop_ready_t *ready, void *owner)
{
    struct epoll_event event = {wanted, {.ptr = source}};

    source->fd = fd;
    source->ready = ready;
    source->owner = owner;
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0)
        return 0;
    close(fd);
    source->fd = -1;
    return -1;
}

void loop_change(loop_source_t *source, uint32_t wanted)
{
    struct epoll_event event = {wanted, {.ptr = source}};

    if (source->fd >= 0)
        epoll_ctl(epoll, EPOLL_CTL_MOD, source->fd, &event);
}

int loop_release(loop_source_t *source)
{
    int fd = source->fd;

    /* Not by close() alone: an app being forked may hold a copy of it. */
    if (fd >= 0)
        epoll_ctl(epoll, EPOLL_CTL_DEL, fd, NULL);
    source->fd = -1;
    return fd;
}

void loop_drop(loop_source_t *source)
{
    int fd = loop_release(source);

    if (fd >= 0)
        close(fd);
}

void loop_wait(int ms)
{
    n_events = epoll_wait(epoll, events, BATCH, ms);
    if (n_events < 0 && errno != EINTR)
        poll(NULL, 0, 100);
}

void loop_call(void)
{
    int i;

    for (i = 0; i < n_events; i++) {
        loop_source_t *source = events[i].data.ptr;

        if (source->fd >= 0)
            source->ready(source->owner, events[i].events);
    }
    n_events = 0;
}
