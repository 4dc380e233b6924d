/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file ledger.h
 * @brief A record of what many processes did to one pool, and a check whether
 *        it can be right.
 *
 * Each worker records its sessions. The clock of the ledger numbers the events:
 * an event with a smaller number came before. An event is 0 if the worker was
 * killed before it. An event is recorded so that the session had its process at
 * least from `granted` to `closing`: `granted` is written after the pool gave
 * the process, `closing` before the process is given back.
 */
#ifndef APPPOOL_TESTS_UNIT_SUPPORT_LEDGER_H
#define APPPOOL_TESTS_UNIT_SUPPORT_LEDGER_H

#include <stdint.h>

#define LEDGER_WORKERS  6
#define LEDGER_SESSIONS 150000 /* of each worker and its successors */
#define LEDGER_READY    50000
#define LEDGER_AHEAD    2000 /* sessions of a worker without ledger_allow() */

/** A worker asks for a process, and gives it back. */
typedef struct {
    uint32_t group;
    uint32_t waited;
    uint64_t ticket;
    uint64_t process;                         /**< id */
    uint64_t asked, granted, closing, closed; /**< events */
    int64_t closed_at;   /**< us: the next waiter was woken */
    int64_t missed;      /**< sleeps.h */
    uint64_t died;       /**< event: its worker is about to be reported dead */
    int64_t reported_at; /**< us: it was reported */
} ledger_session_t;

/** A process became ready. */
typedef struct {
    uint64_t process;
    uint64_t begun; /**< event */
    int64_t done_at;
    uint32_t gone; /**< how many times it ended */
} ready_t;

typedef struct {
    uint64_t clock;
    uint32_t stop; /**< the process that spawns must end */
    uint32_t allowed;
    uint32_t n_ready;
    ready_t ready[LEDGER_READY];
    struct {
        uint32_t n;
        ledger_session_t sessions[LEDGER_SESSIONS];
    } workers[LEDGER_WORKERS];
} ledger_t;

/** In memory that children share. */
ledger_t *ledger_new(void);
void ledger_drop(ledger_t *l);

/** The number of an event that happens now. */
uint64_t ledger_now(ledger_t *l);

/** Let the workers continue for a while. Without this limit, their pages would
 * become full when the process that kills does not run for some time. */
void ledger_allow(ledger_t *l);

/** The worker's next session, once it is allowed. @return NULL: its pages are
 * full */
ledger_session_t *ledger_session(ledger_t *l, int worker);

/** Sessions so far. */
uint64_t ledger_sessions(const ledger_t *l);

/** The options of each group. */
typedef struct {
    uint32_t concurrency, max_requests; /**< 0: no limit */
} ledger_rule_t;

/** What the checker counted. */
typedef struct {
    uint64_t served, waited, missed, ended;
} ledger_sums_t;

/**
 * Check the ledger when all workers are dead and reported. No process had more
 * sessions at a time than its concurrency, or more requests than MaxRequests.
 * No session waited longer than one that came later. Each waiter was woken by
 * the worker that had to, unless that worker was killed before. Each session
 * ended, and each process ended at most once.
 * @return 1; or 0: why says what happened
 */
int ledger_check(const ledger_t *l, const ledger_rule_t *rules,
                 ledger_sums_t *sums, char why[200]);

#endif
