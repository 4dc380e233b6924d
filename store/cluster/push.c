/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/cluster/push.h"

#include "base/clock_ms.h"
#include "store/cluster/confirm.h"
#include "store/cluster/confirm_wait.h"

#define MARK   1000 /* ms from one mark to the next, at most */

/* From one packet of changes to the next, ns. Changes that come in between go
 * with it: a wake-up and a call to send cost more than a change. */
#define GATHER 300000
#define SECOND 1000000000

/* The same while a client waits: so much for each change of the last packet, and
 * no more than GATHER. So only changes that come fast are gathered, and one that
 * comes alone is sent at once. */
#define EACH   20000

static int is_due(const store_push_t *p, const store_sender_t *to,
                  const store_cursor_t *cursor, int64_t now)
{
    return cursor->position != to->out.marked || now - p->marked_at >= MARK ||
           p->has_echoed != to->out.has_echoed;
}

static int mark(store_push_t *p, store_sender_t *to,
                const store_cursor_t *cursor)
{
    int64_t age, now = clock_ms();

    if (!to->ours || !is_due(p, to, cursor, now) ||
        !store_confirm_grants(to->out.slot, cursor->position, now))
        return 0;
    p->marked_at = now;
    p->has_echoed = to->out.has_echoed;
    store_changes_lag(cursor, &age);
    return store_sender_mark(to, cursor->position, age,
                             store_confirm_is_wanted());
}

/* The bell is for other feeders: this thread removes what has expired, and that
 * is a change. */
int store_push(store_push_t *p, store_sender_t *to,
               const store_cursor_t *cursor)
{
    if (mark(p, to, cursor) != 0 || store_slave_link_flush(&to->out) != 0)
        return -1;
    store_changes_sent(cursor);
    store_changes_ring();
    p->changes = cursor->n - p->sent;
    p->sent = cursor->n;
    clock_gettime(CLOCK_MONOTONIC, &p->at);
    return 0;
}

static int64_t ns_since(const struct timespec *then)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)(now.tv_sec - then->tv_sec) * SECOND + now.tv_nsec -
           then->tv_nsec;
}

int store_push_is_early(const store_push_t *p, const store_slave_link_t *out)
{
    return out->echoed < out->marked && store_confirm_is_awaited() &&
           ns_since(&p->at) < STORE_PUSH_PATIENCE * (SECOND / 1000);
}

/* ns from the last push to the next one, at least. */
static long pause_after(const store_push_t *p)
{
    return store_confirm_is_awaited() && p->changes < GATHER / EACH
               ? (long)p->changes * EACH
               : GATHER;
}

void store_push_gather(const store_push_t *p)
{
    struct timespec until = p->at;
    long pause = pause_after(p);

    if (ns_since(&p->at) >= pause)
        return;
    until.tv_nsec += pause;
    if (until.tv_nsec >= SECOND) {
        until.tv_nsec -= SECOND;
        until.tv_sec++;
    }
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}
