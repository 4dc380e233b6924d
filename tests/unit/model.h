/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file model.h
 * @brief The pool's algorithm in the plainest code: arrays that are searched,
 *        no list, no lock, no shared memory. What walk.c holds the pool to.
 */
#ifndef MODEL_H
#define MODEL_H

#include <stdint.h>

#include "shm/checkout.h"

#define MODEL_GROUPS 4
#define MODEL_SLOTS  4000
#define MODEL_SECOND 1000000ll

typedef enum { M_FREE, M_WANTED, M_STARTING, M_LIVE, M_LEAVING } m_state_t;

typedef struct {
    m_state_t state;
    int group;
    uint64_t id; /* the pool's, once the order is taken */
    unsigned sessions, processed;
    int64_t ready_at, last_used;
    uint64_t birth, enlisted, idle_since; /* ticks of the model's own counter */
    unsigned revision;                    /* 0: outdated in any case */
    int replaces;
} m_process_t;

typedef enum { S_FREE, S_WAITING, S_HELD, S_FAILED } m_session_state_t;

typedef struct {
    m_session_state_t state;
    int group, process;
    uint64_t ticket;
} m_session_t;

typedef struct {
    int used;
    apl_options_t options;
    unsigned failures;
    int64_t retry_at;
    uint64_t turn; /* when it took its turn; 0: it has none */
    unsigned revision, young;
} m_group_t;

typedef struct {
    unsigned max;
    int64_t now;
    uint64_t clock;
    m_group_t groups[MODEL_GROUPS];
    m_process_t processes[MODEL_SLOTS];
    m_session_t sessions[MODEL_SLOTS];
    int n_processes, n_sessions;
} model_t;

/** What there is to compare. */
typedef struct {
    unsigned count, active, spawning, waiting, leaving, outdated;
} m_sums_t;

m_sums_t model_sums(const model_t *m);

/** A group that is used from now on. */
void model_configure(model_t *m, int group, const apl_options_t *options);

/** @return the session's index, *rv as apl_checkout(); refused: -1 */
int model_checkout(model_t *m, int group, apr_status_t *rv);
apr_status_t model_poll(model_t *m, int session);

typedef enum { M_CLOSE, M_REFUSED } m_end_t;
void model_end(model_t *m, int session, m_end_t how);

/** @return the process whose order is the oldest, or -1 */
int model_take(model_t *m, uint64_t id);
void model_ready(model_t *m, int process);
void model_failed(model_t *m, int process);
void model_gone(model_t *m, int process);
void model_detach(model_t *m, int process);
void model_outdate(model_t *m, int process);
void model_restart(model_t *m, int group, int rolling);
void model_tick(model_t *m);
void model_limit(model_t *m, unsigned max);
/** The owner of a session died. */
void model_reclaim(model_t *m, int session);

#endif
