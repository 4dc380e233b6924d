/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file ledger.h
 * @brief What many processes did to one pool, written down beside it, and
 *        whether that can have been right.
 *
 * Each worker writes down its visits to the pool. An event is numbered by the
 * ledger's clock, so that one that has a smaller number was before; what a
 * worker did not come to, as it was killed, is 0. What an event means has
 * happened: `granted` is written after the pool gave the process, `closing`
 * before it is given back. So a visit had its process at least from the one
 * to the other.
 */
#ifndef APPPOOL_TESTS_UNIT_SUPPORT_LEDGER_H
#define APPPOOL_TESTS_UNIT_SUPPORT_LEDGER_H

#include <stdint.h>

#define LEDGER_WORKERS 6
#define LEDGER_VISITS  150000 /* of each worker and its successors */
#define LEDGER_READY   50000
#define LEDGER_AHEAD   2000 /* visits of a worker without ledger_allow() */

/** A worker asks for a process, and gives it back. */
typedef struct {
    uint32_t group;
    uint32_t waited;
    uint64_t ticket;
    uint64_t process;                         /**< id */
    uint64_t asked, granted, closing, closed; /**< events */
    int64_t closed_at;   /**< us: who was to be woken has been */
    int64_t missed;      /**< sleeps.h */
    uint64_t died;       /**< event: its worker is about to be reported dead */
    int64_t reported_at; /**< us: it was */
} visit_t;

/** A process became ready. */
typedef struct {
    uint64_t process;
    uint64_t begun; /**< event */
    int64_t done_at;
    uint32_t gone; /**< so many times */
} ready_t;

typedef struct {
    uint64_t clock;
    uint32_t stop; /**< whoever spawns is to end */
    uint32_t allowed;
    uint32_t n_ready;
    ready_t ready[LEDGER_READY];
    struct {
        uint32_t n;
        visit_t visits[LEDGER_VISITS];
    } workers[LEDGER_WORKERS];
} ledger_t;

/** In memory that children share. */
ledger_t *ledger_new(void);
void ledger_drop(ledger_t *l);

/** The number of an event that happens now. */
uint64_t ledger_now(ledger_t *l);

/** Go on. Else the pages are full when whoever kills is held for some time. */
void ledger_allow(ledger_t *l);

/** The worker's next visit, once it is allowed. @return NULL: its pages are
 * full */
visit_t *ledger_visit(ledger_t *l, int worker);

/** Visits so far. */
uint64_t ledger_visits(const ledger_t *l);

/** What is asked of each group. */
typedef struct {
    uint32_t concurrency, max_requests; /**< 0: no limit */
} ledger_rule_t;

/** What the checker counted. */
typedef struct {
    uint64_t served, waited, missed, ended;
} ledger_sums_t;

/**
 * Once all are dead and reported: was no process given to more than its
 * concurrency at a time, nor more often than its requests; did nobody wait
 * longer than one who came later; was everybody woken by whom it was to be
 * woken, unless that one was killed before; did each visit end, and each
 * process once at the most?
 * @return 1; or 0: why says what happened
 */
int ledger_check(const ledger_t *l, const ledger_rule_t *rules,
                 ledger_sums_t *sums, char why[200]);

#endif
