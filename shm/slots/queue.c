/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/slots/queue.h"

#include "shm/slots/group.h"
#include "shm/format/list.h"
#include "shm/slots/session.h"
#include "shm/lock/wake.h"

apl_session_t *apl_queue_head(apl_held_t *held, const apl_group_t *group)
{
    uint32_t at = apl_list_first(held->pool, &group->queue);
    apl_session_t *s;

    if (at == 0)
        return NULL;
    s = APL_SESSION_OF(held->pool, at, link);
    if (!s || s->state != APL_SESSION_WAITING) {
        held->pool->damaged = 1;
        return NULL;
    }
    return s;
}

static void wake(apl_held_t *held, apl_session_t *session)
{
    apl_wake_mark(&session->bell);
    held->wakes[held->n_wakes++] = APL_SESSION_INDEX(held->pool, session);
}

void apl_queue_serve(apl_held_t *held, apl_group_t *group)
{
    apl_session_t *s;
    apl_process_t *p;

    while ((s = apl_queue_head(held, group)) != NULL &&
           (p = apl_group_pick(held, group)) != NULL) {
        if (held->n_wakes == APL_WAKES_MAX) {
            held->more = 1;
            return;
        }
        apl_session_give(held, s, p);
        wake(held, s);
    }
}

int apl_queue_fail(apl_held_t *held, apl_group_t *group, apr_status_t outcome)
{
    apl_session_t *s;

    while ((s = apl_queue_head(held, group)) != NULL) {
        if (held->n_wakes == APL_WAKES_MAX)
            return 1;
        apl_session_fail(held, s, outcome);
        wake(held, s);
    }
    return 0;
}
