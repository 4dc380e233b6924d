/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/server/main_loop.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/clock_ms.h"
#include "store/note.h"

#define EVENTS 64
#define REST   100 /* ms */

/* One for each descriptor, which is its index. */
typedef struct {
    void (*on_event)(void *ctx); /* NULL: it is not watched */
    void *ctx;
    uint32_t turn; /* grows with each use of this descriptor, so an event of an
                      older use is recognized */
    int rests;
} source_t;

static int epoll = -1;
static source_t *sources;
static int n_sources;
static int n_resting;
static int64_t rest_until; /* ms: of all that rest */

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

static int control(int what, int fd, uint32_t turn, uint32_t events)
{
    struct epoll_event event = {.events = events};

    event.data.u64 = (uint64_t)turn << 32 | (uint32_t)fd;
    return epoll_ctl(epoll, what, fd, &event);
}

int store_loop_watch(int fd, void (*on_event)(void *ctx), void *ctx)
{
    source_t *s;

    if (fd < 0) {
        errno = EBADF;
        return -1;
    }
    if (make_room(fd) != 0)
        return -1;
    s = &sources[fd];
    if (control(EPOLL_CTL_ADD, fd, s->turn + 1, EPOLLIN) != 0)
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
    n_resting -= s->rests;
    s->rests = 0;
    epoll_ctl(epoll, EPOLL_CTL_DEL, fd, NULL);
}

/* It stays in the epoll, because adding it again needs memory. */
static void rest(int fd)
{
    source_t *s = source_of(fd);

    if (!s || !s->on_event || s->rests ||
        control(EPOLL_CTL_MOD, fd, s->turn, 0) != 0)
        return;
    s->rests = 1;
    if (n_resting++ == 0)
        rest_until = clock_ms() + REST;
}

static void end_rests(void)
{
    int fd;

    for (fd = 0; fd < n_sources && n_resting > 0; fd++)
        if (sources[fd].rests) {
            sources[fd].rests = 0;
            n_resting--;
            control(EPOLL_CTL_MOD, fd, sources[fd].turn, EPOLLIN);
        }
}

/* @return ms until the next event or the end of the rests */
static int limit(int ms)
{
    int64_t left = n_resting > 0 ? rest_until - clock_ms() : ms;

    if (n_resting > 0 && left <= 0)
        end_rests();
    return left <= 0 ? 0 : left < ms ? (int)left : ms;
}

void store_loop_turn(int ms)
{
    struct epoll_event events[EVENTS];
    int i, n = epoll_wait(epoll, events, EVENTS, limit(ms));

    for (i = 0; i < n; i++) {
        const source_t *s = source_of((int)(uint32_t)events[i].data.u64);

        if (s && s->on_event && s->turn == events[i].data.u64 >> 32)
            s->on_event(s->ctx);
    }
}

void store_loop_shortage(int listener)
{
    static int64_t noted_at;
    int error = errno;

    if (error != EMFILE && error != ENFILE && error != ENOMEM &&
        error != ENOBUFS)
        return;
    rest(listener);
    if (store_note_is_due(&noted_at, clock_ms()))
        store_note(STORE_ERROR, "the store cannot accept a connection: %s",
                   strerror(error));
}
