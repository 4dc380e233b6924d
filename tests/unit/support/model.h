/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file model.h
 * @brief The model: the algorithm of the pool in the simplest code. It searches
 *        arrays, and has no list, no lock and no shared memory. walk.c compares
 *        the pool with it.
 *
 * The verbs of httpd's children are in model.c, those of the spawner in
 * model_spawner.c and model_timeouts.c.
 */
#ifndef APPPOOL_TESTS_UNIT_SUPPORT_MODEL_H
#define APPPOOL_TESTS_UNIT_SUPPORT_MODEL_H

#include <stdint.h>

#include "shm/verbs/checkout.h"

#define MODEL_GROUPS    4
#define MODEL_PROCESSES 10 /* slots, also for those that leave */
#define MODEL_SESSIONS  64
#define MODEL_WAKES     32 /* the most that may be woken under one lock */
#define MODEL_SECOND    1000000ll

typedef enum { M_FREE, M_WANTED, M_STARTING, M_LIVE, M_LEAVING } m_state_t;

typedef struct {
    m_state_t state;
    int group;
    uint64_t id; /* that of the pool, once the order is taken */
    unsigned sessions, processed;
    int64_t started, ready_at, last_used;
    uint64_t birth, enlisted, idle_since; /* ticks of the model's own counter */
    unsigned revision;                    /* 0: outdated in any case */
    int replaces, hung, killed, unkillable;
    int responded, trial;
    unsigned made_for; /* requests at a time; 0: no limit */
    int forked;
    uint64_t stamp; /* of restart.txt, as its start saw it; M_UNKNOWN */
} m_process_t;

typedef enum { S_FREE, S_WAITING, S_OPEN, S_FAILED } m_session_state_t;

typedef struct {
    m_session_state_t state;
    int group, process;
    uint64_t id; /* of the process, which may be gone */
    uint64_t ticket;
    int64_t since; /* when it got its process */
    int long_lived, killed, abandoned;
    apr_status_t outcome; /* of a failed one */
} m_session_t;

/** Stamps of restart.txt that name no file. */
enum { M_UNKNOWN, M_NO_FILE };

/** What a child saw of the restart.txt and always_restart.txt of an app. */
typedef struct {
    int stale; /* another child has looked later */
    uint64_t file;
    int always;
} m_look_t;

typedef struct {
    int there;
    unsigned slot; /* the pool's: it goes through its groups in this order */
    apl_options_t options;
    int retired, drained;
    int used; /* its minimum is kept */
    unsigned failures;
    int64_t retry_at, failed_at, young_at, responded_at;
    uint64_t blamed; /* the id of the last failure */
    int forks;       /* a template of its code is ready */
    int loads;       /* or is being loaded: */
    uint64_t loaded; /* the stamp that it saw */
    uint64_t turn;   /* when it took its turn; 0: it has none */
    uint64_t above;  /* the same, for the place above the limit */
    unsigned revision, young;
    m_look_t seen;
} m_group_t;

typedef struct {
    unsigned max;
    int64_t now;
    uint64_t clock;
    m_group_t groups[MODEL_GROUPS];
    m_process_t processes[MODEL_PROCESSES];
    m_session_t sessions[MODEL_SESSIONS];
    int n_processes; /* slots from here on were never used */
    unsigned wakes;  /* waiters that were woken under this lock */
    int more;        /* more waiters could have been served */
} model_t;

/** Counts of a group, or of all groups (group -1). */
typedef struct {
    unsigned count, active, spawning, waiting, leaving, outdated, hung, credit;
} m_sums_t;

m_sums_t model_sums(const model_t *m, int group);

/** The process that the group's next request would get, or -1. */
int model_pick(const model_t *m, int group);

/** The process that a session has, or -1: none, or it is gone. */
int model_process_of(const model_t *m, const m_session_t *s);

/** Requests that it takes at a time; 0: no limit. */
unsigned model_concurrency(const model_t *m, int process);

/* ---- verbs of httpd's children ---- */

/**
 * As apl_checkout(), into a session slot that is free.
 * @param slot of the group, should it be made now
 * @param look may be NULL
 */
apr_status_t model_checkout(model_t *m, int session, int group, unsigned slot,
                            const apl_options_t *options, const m_look_t *look);
apr_status_t model_poll(model_t *m, int session);

typedef enum { M_CLOSE, M_LAST, M_UNANSWERED, M_REFUSED } m_end_t;
void model_end(model_t *m, int session, m_end_t how);
/** As apl_checkin_abandon(). @return 0: it was closed */
int model_abandon(model_t *m, int session);

/* ---- verbs of the spawner ---- */

/** @return the process whose order is the oldest, or -1 */
int model_take(model_t *m, uint64_t id);
/** @param made_for requests at a time
 * @param stamp     M_UNKNOWN: it has not looked yet */
void model_born(model_t *m, int process, unsigned made_for, uint64_t stamp);
void model_ready(model_t *m, int process);
void model_failed(model_t *m, int process);
void model_gone(model_t *m, int process);
void model_detach(model_t *m, int process);
void model_outdate(model_t *m, int process);
void model_adopt(model_t *m, int group, uint64_t id, unsigned made_for,
                 uint64_t stamp, int live);

void model_configure(model_t *m, int group, unsigned slot,
                     const apl_options_t *options, int prestart);
void model_remove(model_t *m, int group);
apr_status_t model_start(model_t *m, int group, unsigned slot,
                         const apl_options_t *options);
void model_drain(model_t *m, int group, unsigned slot,
                 const apl_options_t *options);
/** A template is ready, or is being loaded. @param stamp as of model_born() */
void model_template(model_t *m, int group, int ready, uint64_t stamp);
void model_restart(model_t *m, int group, int rolling);
void model_tick(model_t *m);
void model_limit(model_t *m, unsigned max);
/** The owner of a session died; after all of them, model_unlock(). @return 0:
 * it was closed; 1: it is abandoned */
int model_orphan(model_t *m, int session);
/** A session that was abandoned ends. */
void model_reclaim(model_t *m, int session);
/** A session is closed, and nothing follows. model_repair() comes next. */
void model_lose(model_t *m, int session);

/** As apl_timeouts_find(). @return how many are to be killed */
unsigned model_clock(model_t *m);
/** As apl_timeouts_kill(), because of any request. */
apr_status_t model_kill(model_t *m, int process);
apr_status_t model_unkillable(model_t *m, int process);
/** As apl_timeouts_end_abandoned(). */
apr_status_t model_ended(model_t *m, int process, unsigned n);
/** Free the abandoned sessions of a process that is gone. */
void model_forget(model_t *m, int process);
/** Sessions of a process that are abandoned. */
unsigned model_abandoned(const model_t *m, int process);

/** The lock is given back: waiters that could not be served yet are served.
 * All verbs end with it. */
void model_unlock(model_t *m);

/** A process died inside: what only the lists knew is lost. */
void model_repair(model_t *m);

#endif
