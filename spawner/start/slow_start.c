/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/start/slow_start.h"

#include <apr_strings.h>
#include <string.h>

#include "shm/verbs/group_start.h"
#include "spawner/report/start_failure.h"
#include "spawner/start/ready.h"

#define PAUSE                                                                  \
    SECOND /* from the begin of the start to the first look, and
                        between two looks */

/* The file comes first: who finds the id in the pool looks for the file. */
static void tell(spawner_t *s, process_t *p, const char *missing,
                 const char *text)
{
    apl_slow_start_t slow = {.id = p->is.id, .since = p->is.began};

    apr_cpystrn(slow.text, text, sizeof slow.text);
    start_failure_keep_slow(s, p, missing);
    if (apl_slow_start_write(&s->shm, p->is.name, &slow, s->now) != APL_ELOCK)
        apr_cpystrn(p->slow_start.text, text, sizeof p->slow_start.text);
}

/* Another start of the app may last long, too, and has written to the same
 * places. It does so again. */
static void forget(spawner_t *s, const process_t *p)
{
    process_t *other;

    start_failure_forget_slow(s, p);
    for (other = s->processes; other; other = other->next)
        if (strcmp(other->is.name, p->is.name) == 0)
            other->slow_start.text[0] = 0;
}

void slow_start_look(spawner_t *s, process_t *p)
{
    char missing[READY_TEXT_MAX], text[APL_SLOW_START_MAX];

    if (p->phase != PHASE_BOOTING || p->is.pid == 0 || p->gone) {
        if (p->slow_start.text[0])
            forget(s, p);
        return;
    }
    if (p->slow_start.look_at < p->is.began + PAUSE)
        p->slow_start.look_at = p->is.began + PAUSE;
    if (s->now >= p->slow_start.look_at) {
        p->slow_start.look_at = s->now + PAUSE;
        start_failure_describe(p, ready_missing(s, p, missing), text,
                               sizeof text);
        if (strcmp(text, p->slow_start.text) != 0)
            tell(s, p, missing, text);
    }
    state_wake(s, p->slow_start.look_at);
}
