/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/slots/queue.h"

#include "shm/format/error.h"
#include "shm/format/list.h"
#include "shm/slots/group.h"
#include "shm/slots/session.h"
#include "shm/lock/wake.h"

apl_session_t *apl_queue_head(apl_lock_token_t *token, const apl_group_t *group)
{
    uint32_t at = apl_list_first(token->pool, &group->queue);
    apl_session_t *s;

    if (at == 0)
        return NULL;
    s = APL_SESSION_OF(token->pool, at, link);
    if (!s || s->state != APL_SESSION_WAITING) {
        token->pool->damaged = 1;
        return NULL;
    }
    return s;
}

static void wake(apl_lock_token_t *token, apl_session_t *session)
{
    apl_wake_change(&session->wake_word);
    token->wakes[token->n_wakes++] = APL_SESSION_INDEX(token->pool, session);
}

void apl_queue_serve(apl_lock_token_t *token, apl_group_t *group)
{
    apl_session_t *s;
    apl_process_t *p;

    while ((s = apl_queue_head(token, group)) != NULL &&
           (p = apl_group_pick(token, group)) != NULL) {
        if (token->n_wakes == APL_WAKES_MAX) {
            token->more = 1;
            return;
        }
        apl_session_give(token, s, p);
        wake(token, s);
    }
}

int apl_queue_fail(apl_lock_token_t *token, apl_group_t *group,
                   apr_status_t outcome)
{
    apl_session_t *s;

    while ((s = apl_queue_head(token, group)) != NULL) {
        if (token->n_wakes == APL_WAKES_MAX)
            return 1;
        apl_session_fail(token, s, outcome);
        wake(token, s);
    }
    return 0;
}

apr_status_t apl_queue_refusal(const apl_lock_token_t *token,
                               const apl_group_t *g)
{
    if (g->retired && g->size + g->spawning == 0)
        return APL_ESTOPPING;
    if (g->failures != 0 && token->now < g->retry_at &&
        g->size + g->spawning == 0)
        return APL_EBACKOFF;
    if (apl_group_too_many_unkillable(g) && g->size + g->spawning == 0)
        return APL_EUNKILLABLE;
    if (g->options.max_queue != 0 && g->waiting >= g->options.max_queue)
        return APL_EQUEUEFULL;
    return APR_SUCCESS;
}
