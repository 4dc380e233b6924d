/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "watchdog/store_watch.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/contract.h"

#define RETRY 1000 /* ms after a start that failed */

void store_watch_begin(store_watch_t *s, const char *runtime, int dirfd,
                       const char *own_name)
{
    ward_begin(&s->ward, &ward_store, runtime, dirfd, own_name);
    s->start_at = STORE_WATCH_NEVER;
    s->stopping = 0;
}

void store_watch_look(store_watch_t *s, int64_t now)
{
    if (!s->stopping && s->ward.pid == 0 && s->start_at == STORE_WATCH_NEVER &&
        faccessat(s->ward.dirfd, CONTRACT_STORE_TABLE, F_OK,
                  AT_SYMLINK_NOFOLLOW) == 0)
        s->start_at = now;
}

static void start(store_watch_t *s, int64_t now)
{
    s->start_at = STORE_WATCH_NEVER;
    if (!ward_join(&s->ward, now) && ward_start(&s->ward, now, 0) != 0)
        s->start_at = now + RETRY;
}

/* A store that makes no sense to start again is started with the next table. So
 * is one whose instance has no table, because another instance has its
 * store. */
static void ended(store_watch_t *s, int64_t now)
{
    int code = ward_log_end(&s->ward, s->stopping);

    /* It was told to stop when it already ended, to begin again in another
     * role: nothing is saved yet. Once: a store may be hostile. */
    if (s->stopping == 1 && code == CONTRACT_EXIT_AGAIN &&
        ward_start(&s->ward, now, 0) == 0) {
        s->stopping = 2;
        ward_stop(&s->ward, now);
    }
    if (!s->stopping && code != CONTRACT_EXIT_CONFIG &&
        code != CONTRACT_EXIT_REPLACED)
        s->start_at = now + ward_pause(&s->ward, code, now);
}

void store_watch_tick(store_watch_t *s, int64_t now)
{
    if (ward_has_ended(&s->ward))
        ended(s, now);
    if (ward_check(&s->ward, now)) {
        int64_t pause = ward_abandon(&s->ward, now);

        if (!s->stopping)
            s->start_at = now + pause;
    }
    if (s->ward.pid == 0 && now >= s->start_at)
        start(s, now);
}

/* httpd's parent has made the link in root's directory. */
static int stop_checks(int dirfd)
{
    char text[16];
    ssize_t n =
        readlinkat(dirfd, CONTRACT_STORE_SAVE_TIME, text, sizeof text - 1);
    long s;

    text[n > 0 ? n : 0] = 0;
    s = strtol(text, NULL, 10);
    return s > 0 && s <= CONTRACT_STORE_SAVE_MAX ? (int)s + CONTRACT_STORE_REST
                                                 : CONTRACT_STORE_STOP;
}

void store_watch_stop(store_watch_t *s, int64_t now)
{
    if (s->ward.pid == 0 && !ward_join(&s->ward, now) &&
        s->start_at != STORE_WATCH_NEVER)
        ward_start(&s->ward, now, 0);
    s->start_at = STORE_WATCH_NEVER;
    s->stopping = 1;
    s->ward.stop_checks = stop_checks(s->ward.dirfd);
    if (s->ward.pid != 0)
        ward_stop(&s->ward, now);
}

int store_watch_runs(const store_watch_t *s)
{
    return s->ward.pid != 0;
}
