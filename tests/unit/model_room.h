/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file model_room.h
 * @brief The model's state searched, and its room shared out; for model.c.
 */
#ifndef MODEL_ROOM_H
#define MODEL_ROOM_H

#include "tests/unit/model.h"

/* How many there are; of all groups where \p group is -1. */
unsigned model_size(const model_t *m, int group);
unsigned model_spawning(const model_t *m, int group);
unsigned model_waiting(const model_t *m, int group);

/** Is the group, or the pool, above its limit? */
int model_above(const model_t *m, int group);

/** Is a process live, and of an old revision? */
int model_outdated(const model_t *m, int process);

/** The session that waits longest, or -1. */
int model_head(const model_t *m, int group);

/** The process that the next request gets, or -1. */
int model_pick(const model_t *m, int group);

/** A process changes its state. */
void model_move(model_t *m, int process, m_state_t state);

/** A session gets a process. */
void model_give(model_t *m, int session, int process);

/* As apl_room_want(), apl_room_replace(), and so on. */
void model_want(model_t *m, int group);
void model_replace(model_t *m, int group);
void model_settle(model_t *m);
void model_share(model_t *m, int group);

#endif
