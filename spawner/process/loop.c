/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/process/loop.h"

#include <errno.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

#define BATCH     64
#define SHARE     6         /* work may take one part in SHARE of the time, */
#define BURST     100000000 /* ns: but so much work at once is free */
#define PAUSE_MAX 10000000  /* ns: no source waits longer than that */

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

    /* close() alone does not remove it from epoll: a forked child may still
     * hold a copy of the descriptor. */
    if (fd >= 0)
        epoll_ctl(epoll, EPOLL_CTL_DEL, fd, NULL);
    source->fd = -1;
    return fd;
}

void loop_pause(loop_source_t *source)
{
    if (source->fd >= 0)
        epoll_ctl(epoll, EPOLL_CTL_DEL, source->fd, NULL);
}

int loop_resume(loop_source_t *source)
{
    struct epoll_event event = {EPOLLIN, {.ptr = source}};

    return source->fd < 0 ||
                   epoll_ctl(epoll, EPOLL_CTL_ADD, source->fd, &event) == 0
               ? 0
               : -1;
}

void loop_drop(loop_source_t *source)
{
    int fd = loop_release(source);

    if (fd >= 0)
        close(fd);
}

static int64_t nanoseconds(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return t.tv_sec * (int64_t)1000000000 + t.tv_nsec;
}

/* @return ns to sleep, so that work takes no more than its share of the time */
static int64_t rest_due(void)
{
    static int64_t worked, at, owed;
    int64_t work = nanoseconds(CLOCK_PROCESS_CPUTIME_ID);
    int64_t now = nanoseconds(CLOCK_MONOTONIC);

    owed += work - worked - (now - at) / SHARE;
    if (owed < 0)
        owed = 0;
    worked = work;
    at = now;
    return owed <= BURST ? 0 : (owed - BURST) * SHARE;
}

void loop_wait(int ms)
{
    int64_t rest = rest_due();
    struct timespec pause = {0, rest < PAUSE_MAX ? rest : PAUSE_MAX};

    if (rest > 0)
        nanosleep(&pause, NULL);
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
