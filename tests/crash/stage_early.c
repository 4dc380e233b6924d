/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Processes that end before their start is a success: policy/backoff.h. */

#include "tests/crash/stage.h"

/* A process that has ended early, and another one with a request. */
void stage_ended_early(stage_t *g)
{
    stage_busy(g, 1, 0);
    apl_checkin_refused(&g->pool, &g->holds[1], SCENE_NOW);
    apl_supervise_gone(&g->pool, g->ids[1], SCENE_NOW);
    stage_busy(g, 0, 0);
    stage_ask(g, 2, 0);
}

/* The pool is full, and a group whose process has ended early tries again. */
void stage_try_boots(stage_t *g)
{
    int i;

    stage_busy(g, 5, 1);
    apl_checkin_refused(&g->pool, &g->holds[5], SCENE_NOW);
    apl_supervise_gone(&g->pool, g->ids[5], SCENE_NOW);
    for (i = 1; i < 5; i++)
        stage_busy(g, i, 0);
    apl_checkin(&g->pool, &g->holds[1], SCENE_NOW + 1);
    stage_ask(g, 0, 1);
    stage_take(g, 0);
}

void stage_on_trial(stage_t *g)
{
    stage_try_boots(g);
    apl_supervise_ready(&g->pool, g->ids[0], SCENE_NOW);
}
