/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/overdue.h"

#include <string.h>

#include "shm/clock.h"
#include "spawner/log.h"
#include "spawner/process.h"
#include "spawner/stuck.h"

#define KILLS 16 /* a second; others come after */
#define ZOMBIE_AFTER                                                           \
    SECOND /* SIGKILL is of effect at once, or who knows when */

static void end(spawner_t *s, const apl_glance_t *request)
{
    process_t *p = process_find(s, request->process);

    if (!p || p->gone || p->phase > PHASE_LIVE ||
        apl_clock_kill(&s->shm, p->is.id, request->ticket, s->now) !=
            APR_SUCCESS)
        return;
    stuck_request(s, p, "is hung and is killed", request);
    stuck_report(s, p, 1);
    state_wake(s, s->now);
}

void overdue_look(spawner_t *s)
{
    apl_glance_t overdue[KILLS];
    uint32_t i, n = apl_clock_look(&s->shm, s->now, overdue, KILLS);

    for (i = 0; i < n; i++)
        end(s, &overdue[i]);
}

/* ---- zombies ---- */

static uint32_t count_zombies(const spawner_t *s, const char *name)
{
    const process_t *p;
    uint32_t n = 0;

    for (p = s->processes; p; p = p->next)
        n += p->zombie && !p->gone && strcmp(p->is.name, name) == 0;
    return n;
}

void overdue_survives(spawner_t *s, process_t *p, int64_t killed)
{
    const table_app_t *a = table_find(s->table, p->is.name);
    uint32_t n, stop = a ? a->app.options.zombies_stop : 0;

    if (s->now < killed + ZOMBIE_AFTER) {
        state_wake(s, killed + ZOMBIE_AFTER);
        return;
    }
    if (apl_clock_zombie(&s->shm, p->is.id, s->now) == APL_ELOCK)
        return;
    p->zombie = 1;
    log_line(LOG_ERROR, PROCESS_FMT " is a zombie: it survives SIGKILL",
             PROCESS_NAME(p));
    n = count_zombies(s, p->is.name);
    if (stop != 0 && n == stop)
        log_line(LOG_ERROR,
                 "%s has %u zombies, more than AppMaxZombies %u: no process of "
                 "it is started until there are fewer",
                 p->label, n, stop - 1);
}
