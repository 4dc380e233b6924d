/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file steps.h
 * @brief The steps of a walk: each verb done to the pool and to the model.
 */
#ifndef STEPS_H
#define STEPS_H

#include "tests/unit/model.h"
#include "tests/unit/scene.h"

#define HOLDS  64
#define OWNERS 3

typedef enum {
    ASK,
    ASK_MORE, /* twice as often */
    POLL,
    CLOSE,
    REFUSE,
    TAKE,
    READY,
    READY_MORE,
    FAIL,
    GONE,
    REAP,
    DETACH,
    OUTDATE,
    RESTART,
    TICK,
    LIMIT,
    OWNER_DIES,
    KINDS
} kind_t;

typedef struct {
    kind_t kind;
    unsigned what;
} step_t;

/* One walk: the pool, the model, and what connects them. */
typedef struct {
    scene_t *s;
    model_t *m;
    uint32_t owners[OWNERS]; /* slots of the children */
    struct {
        apl_hold_t hold;
        int session; /* of the model; -1: not in use */
        int owner;
    } holds[HOLDS];
    char why[300];
} walk_t;

/** The word for a kind of step. */
const char *steps_word(kind_t kind);

void steps_begin(walk_t *w);
void steps_end(walk_t *w);

/** Do one step on both sides. @return 0: they part, w->why says how */
int steps_do(walk_t *w, const step_t *step);

/** Note how pool and model differ. @return 0 */
int steps_differ(walk_t *w, const char *what, long pool, long model);

#endif
