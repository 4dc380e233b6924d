/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/cluster/slave_link.h"

#include <errno.h>
#include <linux/sockios.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/clock_ms.h"
#include "store/atomic.h"

#define ROOM   (128 * 1024)
#define LOOK   1000 /* ms from one look at the slave to the next */
#define LITTLE 1024 /* bytes */

int store_slave_link_open(store_slave_link_t *o, store_stream_t *stream,
                          unsigned timeout)
{
    memset(o, 0, sizeof *o);
    o->stream = stream;
    o->timeout = timeout;
    o->alive = clock_ms();
    o->bytes = malloc(ROOM);
    return o->bytes ? 0 : -1;
}

void store_slave_link_close(store_slave_link_t *o)
{
    free(o->bytes);
    o->bytes = NULL;
}

static int over(store_slave_link_t *o, const char *why)
{
    o->why = why;
    return -1;
}

static int over_by_error(store_slave_link_t *o)
{
    snprintf(o->why_text, sizeof o->why_text, "%s", strerror(errno));
    return over(o, o->why_text);
}

int store_slave_link_overtaken(store_slave_link_t *o)
{
    STORE_SET_RELEASE(o->overtaken, 1);
    return over(o, "it is slower than the changes (AppStoreChanges)");
}

/* @return 0: that is no answer of a slave */
static int take_packet(store_slave_link_t *o, const store_packet_t *p)
{
    o->n_answer = 0;
    if (p->opcode == STORE_WIRE_BYE) {
        o->has_said_bye = 1;
        return 1;
    }
    if (p->opcode != STORE_WIRE_MARK || p->number > o->marked)
        return 0;
    o->has_echoed = 1;
    o->echoed_at = p->clock;
    o->echoed = p->number;
    o->confirmed(o->slot, p->number);
    return 1;
}

/* A NUL, or the next byte of a packet. */
static int take_byte(store_slave_link_t *o, unsigned char byte)
{
    store_packet_t p;
    const char *key;
    int size;

    if (o->n_answer == 0 && byte == '\0')
        return 1;
    if (!o->confirmed || o->n_answer == sizeof o->answer)
        return 0;
    o->answer[o->n_answer++] = byte;
    size = store_wire_head(o->answer, o->n_answer, &p, &key);
    return size == 0 || (size > 0 && take_packet(o, &p));
}

/* Read the heartbeats and the echoes that are there. */
int store_slave_link_hear(store_slave_link_t *o)
{
    unsigned char bytes[512];
    ssize_t n, i;

    while ((n = store_stream_read(o->stream, bytes, sizeof bytes)) > 0) {
        for (i = 0; i < n; i++)
            if (!take_byte(o, bytes[i]))
                return over(o, "it has sent what is no heartbeat");
        o->alive = clock_ms();
        o->heard++;
        if (n < (ssize_t)sizeof bytes && !store_stream_pending(o->stream))
            return 0;
    }
    if (n == 0)
        return over(o, "it has closed the connection");
    return errno == EAGAIN ? 0 : over_by_error(o);
}

/* The kernel of a slave that was stopped takes marks, too. A slave of ours
 * beats while it gets small changes. */
static int is_progress(const store_slave_link_t *o, ssize_t n)
{
    return n > (o->confirmed ? LITTLE : 0);
}

/* A slave that is busy with a large copy may send no heartbeat, but its kernel
 * takes bytes.
 * @param looked_at before the last look for heartbeats. This thread may have
 *        been stopped since then, and heartbeats wait in the socket. */
static int check_alive(store_slave_link_t *o, int64_t looked_at)
{
    int queued = 0;

    if (looked_at - o->alive < LOOK)
        return 0;
    if (ioctl(store_stream_fd(o->stream), SIOCOUTQ, &queued) == 0 &&
        is_progress(o, o->queued - queued))
        o->alive = clock_ms();
    o->queued = queued;
    if (looked_at - o->alive <= (int64_t)o->timeout * 1000)
        return 0;
    snprintf(o->why_text, sizeof o->why_text,
             "nothing was heard of it for %u s (AppStoreSlaveTimeout)",
             o->timeout);
    return over(o, o->why_text);
}

/* While this thread waits, it reads no changes. */
static int check_place(store_slave_link_t *o)
{
    size_t none = 0;

    return o->cursor && store_changes_read(o->cursor, NULL, &none) != 0
               ? store_slave_link_overtaken(o)
               : 0;
}

static int wait_for(store_slave_link_t *o, short events, int bell, int ms)
{
    struct pollfd p[2] = {{store_stream_fd(o->stream), events, 0},
                          {bell, POLLIN, 0}};
    int64_t looked_at = clock_ms();

    if (poll(p, 2, ms) < 0)
        return errno == EINTR ? 0 : over_by_error(o);
    if (p[0].revents & ~POLLOUT && store_slave_link_hear(o) != 0)
        return -1;
    return check_alive(o, looked_at) != 0 ? -1 : check_place(o);
}

/* A slave that stops says bye and closes, while changes are sent to it. So its
 * last words are read, too. */
static int over_by_write(store_slave_link_t *o)
{
    int error = errno;

    if (store_slave_link_hear(o) != 0) {
        /* That is its end. */
    }
    errno = error;
    return over_by_error(o);
}

int store_slave_link_flush(store_slave_link_t *o)
{
    size_t at = 0;

    while (at < o->n) {
        ssize_t n = store_stream_write(o->stream, o->bytes + at, o->n - at);
        short events = store_stream_events(o->stream);

        if (n > 0) {
            at += (size_t)n;
            if (is_progress(o, n))
                o->alive = clock_ms();
            STORE_SET(o->sent, o->sent + (size_t)n);
        }
        else if (errno != EAGAIN)
            return over_by_write(o);
        else if (wait_for(o, (short)(events | POLLIN), -1, LOOK) != 0)
            return -1;
    }
    o->n = 0;
    return 0;
}

int store_slave_link_put(store_slave_link_t *o, const void *bytes, size_t n)
{
    const char *from = bytes;

    while (n > 0) {
        size_t some = n < ROOM - o->n ? n : ROOM - o->n;

        memcpy(o->bytes + o->n, from, some);
        o->n += some;
        from += some;
        n -= some;
        if (o->n == ROOM && store_slave_link_flush(o) != 0)
            return -1;
    }
    return 0;
}

int store_slave_link_wait(store_slave_link_t *o, int bell, int ms)
{
    return wait_for(o, POLLIN, bell, ms < LOOK ? ms : LOOK);
}
