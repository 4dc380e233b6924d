/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/output/app_stderr.h"

#include "shm/verbs/app_stderr.h"
#include "spawner/common/log.h"
#include "spawner/output/output.h"
#include "spawner/state/process.h"

/* A child that writes all the time must not keep the loop here, nor make it
 * turn without a rest. */
#define MOST  APL_STDERR_MAX /* in one turn */
#define PAUSE (SECOND / 100) /* after as many */

void app_stderr_take(spawner_t *s)
{
    static apl_stderr_t lines;
    static int64_t resume;
    unsigned i, lost = 0;

    if (s->now < resume) {
        state_wake(s, resume);
        return;
    }
    for (i = 0; i < MOST; i++) {
        process_t *p;

        if (apl_app_stderr_take(&s->shm, &lines, s->now) != APR_SUCCESS)
            break;
        p = process_find(s, lines.id);
        if (p && !p->done)
            output_add(p, lines.text, lines.size, lines.logged != 0);
        else
            lost += !lines.logged;
    }
    if (i == MOST) {
        resume = s->now + PAUSE;
        state_wake(s, resume);
    }
    if (lost > 0)
        log_line(LOG_NOTICE,
                 "errors of apps were dropped, because the processes that have "
                 "sent them are gone: %u messages",
                 lost);
}
