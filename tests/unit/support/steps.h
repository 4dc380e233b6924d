/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file steps.h
 * @brief The steps of a walk: each verb is done to the pool and to the model,
 *        and then both are compared.
 *
 * The verbs of httpd's children are in steps.c, those of the spawner in
 * steps_spawner.c and steps_timeouts.c, deaths in steps_death.c, and the
 * comparison in same.c.
 */
#ifndef APPPOOL_TESTS_UNIT_SUPPORT_STEPS_H
#define APPPOOL_TESTS_UNIT_SUPPORT_STEPS_H

#include "tests/unit/support/model.h"
#include "tests/unit/support/scene.h"

#define HOLDS  MODEL_SESSIONS
#define OWNERS 3

typedef enum {
    ASK,
    LOOK, /* ask after a look at restart.txt and always_restart.txt */
    POLL,
    GIVE_UP, /* the deadline of a wait has come */
    CLOSE,
    REFUSE,
    LAST,
    UNANSWERED,
    LATE, /* close a session that is closed already */
    JOIN, /* a child of httpd ends in good order, another starts */
    TAKE,
    READY,
    FAIL,
    GONE,
    REAP,
    DETACH,
    OUTDATE,
    ADOPT,
    RESTART,
    TEMPLATE, /* it is ready, or ends */
    DRAIN,
    START,
    TICK,
    LIMIT,
    CONFIGURE,
    REMOVE,
    OWNER_DIES,
    ROLL,
    CLOCK,
    KILL,
    UNKILLABLE,
    LONG_LIVED, /* a request becomes one that lasts */
    ABANDON,    /* the app is silent for too long */
    ENDED,      /* the app has finished it later */
    TEAR,       /* a process dies with the lock held */
    KINDS
} kind_t;

typedef struct {
    kind_t kind;
    unsigned what;
} step_t;

/** The state before the step, for invariants about the past. */
typedef struct {
    unsigned all, regular, trials, credit;
    unsigned group_all[MODEL_GROUPS], group_credit[MODEL_GROUPS];
    struct {
        uint32_t generation;
        uint64_t processed;
        int64_t last_used;
    } processes[MODEL_PROCESSES + 1];
    uint32_t sessions[2 * MODEL_SESSIONS]; /* generations */
} past_t;

/** One walk: the pool, the model, and what connects them. */
typedef struct {
    scene_t *s;
    model_t *m;
    int64_t clock;
    uint32_t owners[OWNERS]; /* slots of the children */
    struct {
        apl_session_ref_t
            hold; /* that of the model's session of the same index */
        int used;
        int owner; /* -1: it is abandoned */
    } holds[HOLDS];
    apl_session_ref_t
        late; /* a copy of one that was closed, or its owner dead */
    int late_owner;
    apl_options_t old[MODEL_GROUPS]; /* of the last configuration */
    uint32_t config;
    unsigned repairs;
    int roll; /* there was damage */
    past_t past;
    char why[300];
} walk_t;

/** The word for a kind of step. */
const char *steps_word(kind_t kind);

void steps_begin(walk_t *w);
void steps_end(walk_t *w);

/**
 * Do one step on both sides, and compare them: every session and its process,
 * the queues, the sums; all invariants, also those about the past.
 * @return 0: they differ, and w->why says how
 */
int steps_do(walk_t *w, const step_t *step);

/* ---- only for the files of the walk ---- */

/** The hold is free again. */
void steps_drop(walk_t *w, int hold);

/** Hold `i` is that of a request that is served; its owner acts. @return 0: it
 * is not */
int steps_served(walk_t *w, unsigned i);

/** A step of the spawner. */
int steps_spawner(walk_t *w, kind_t kind, unsigned n);

/** A step of the clock, and its consequences. */
int steps_clock(walk_t *w, kind_t kind, unsigned n);

/** The `n`-th of the model's processes in a state, or -1. */
int steps_nth(const walk_t *w, m_state_t state, unsigned n);

/** A death, or its consequences. */
int steps_death(walk_t *w, kind_t kind, unsigned n);

/** Compare. */
int steps_same(walk_t *w, kind_t kind);

/** The pool's slot of a group; 0: it is not there. */
uint32_t steps_slot(const walk_t *w, int group);

/** Note how pool and model differ. @return 0 */
int steps_differ(walk_t *w, const char *what, long pool, long model);

#endif
