/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/cluster/promotion.h"

#include <stdio.h>
#include <time.h>

#include "base/clock_ms.h"
#include "store/memory/space.h"
#include "store/note.h"

/* ---- the cas ---- */

/* @return ms */
static uint64_t time_of_day(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

void store_promotion_cas(const store_cluster_hooks_t *hooks)
{
    uint64_t by_time = time_of_day() * STORE_CAS_MS;
    store_space_t *space;
    unsigned i;

    for (i = 0; (space = hooks->nth(i)); i++) {
        uint64_t cas = STORE_GET(space->entry->cas);

        store_space_raise_cas(space, by_time > cas + STORE_CAS_UNHEARD
                                         ? by_time
                                         : cas + STORE_CAS_GAP);
    }
}

/* ---- the log ---- */

/* A yrmcds sends no marks, so its copy is as old as the end of the connection.
 * @return ms; -1: that is not known: this process has followed nobody */
static int64_t age_of(const store_follower_state_t *s)
{
    int64_t age = store_follower_state_age(s);

    return age >= 0 ? age : s->since != 0 ? clock_ms() - s->since : -1;
}

/* @return NULL: it is not */
static const char *why_old(const store_follower_state_t *s)
{
    return s->refused_at != 0                  ? "the last master refused it"
           : !store_follower_state_is_stale(s) ? NULL
           : s->lag > STORE_LAG_MOST           ? "it did not keep up"
                                               : "it had lost its master";
}

static void log_own_items(const char *vip, const store_follower_state_t *s)
{
    store_note(s->refused_at != 0 ? STORE_WARN : STORE_NOTICE,
               "%s has come to this host: the store is the master now, with "
               "its own items%s",
               vip,
               s->refused_at == 0
                   ? ", because it met no master"
                   : ": the last master refused it, so they may be old");
}

void store_promotion_log(const char *vip, const store_follower_state_t *s,
                         uint32_t lacks)
{
    const char *why = why_old(s);
    double age = (double)age_of(s) / 1e3;
    char words[40] = "of unknown age";

    if (age >= 0)
        snprintf(words, sizeof words, "%.0f s old", age);
    if (lacks == STORE_LACKS_NEWER)
        store_note(STORE_WARN,
                   "%s has come to this host: the store is the master now, but "
                   "it had just begun to take a copy: it has its old copy, "
                   "%s, and what has come of the new one",
                   vip, words);
    else if (lacks != STORE_LACKS_NOTHING)
        store_note(STORE_WARN,
                   "%s has come to this host: the store is the master now, but "
                   "its copy is not complete: items are missing",
                   vip);
    else if (s->keeps)
        store_note(
            STORE_WARN,
            "%s has come to this host: the store is the master now, with "
            "its own items, because the last master had no better data",
            vip);
    else if (!s->has_begun)
        log_own_items(vip, s);
    else if (why)
        store_note(STORE_WARN,
                   "%s has come to this host: the store is the master now, but "
                   "its copy is %s, because %s",
                   vip, words, why);
    else
        store_note(STORE_NOTICE,
                   "%s has come to this host: the store is the master now, "
                   "with the complete copy, %.1f s old",
                   vip, age >= 0 ? age : 0.0);
}
