/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "tests/unit/support/ledger.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/support/sleeps.h"

/* ---- writing ---- */

ledger_t *ledger_new(void)
{
    return mmap(NULL, sizeof(ledger_t), PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

void ledger_drop(ledger_t *l)
{
    munmap(l, sizeof *l);
}

uint64_t ledger_now(ledger_t *l)
{
    return __atomic_add_fetch(&l->clock, 1, __ATOMIC_SEQ_CST);
}

void ledger_allow(ledger_t *l)
{
    uint32_t n, most = 0;
    int w;

    for (w = 0; w < LEDGER_WORKERS; w++) {
        n = __atomic_load_n(&l->workers[w].n, __ATOMIC_RELAXED);
        most = n > most ? n : most;
    }
    __atomic_store_n(&l->allowed, most, __ATOMIC_RELAXED);
}

ledger_session_t *ledger_session(ledger_t *l, int worker)
{
    uint32_t n = l->workers[worker].n;

    while (n >= __atomic_load_n(&l->allowed, __ATOMIC_RELAXED) + LEDGER_AHEAD)
        usleep(1000);
    if (n == LEDGER_SESSIONS)
        return NULL;
    l->workers[worker].n = n + 1;
    return &l->workers[worker].sessions[n];
}

uint64_t ledger_sessions(const ledger_t *l)
{
    uint64_t served = 0;
    int w;

    for (w = 0; w < LEDGER_WORKERS; w++)
        served += __atomic_load_n(&l->workers[w].n, __ATOMIC_RELAXED);
    return served;
}

/* ---- checking ---- */

typedef struct {
    const ledger_t *l;
    const ledger_rule_t *rules;
    const ledger_session_t *
        *given; /* those with a process, by it and `granted` */
    const ledger_session_t **dead; /* those whose worker died */
    size_t n_given, n_dead;
    ledger_sums_t *sums;
    char *why;
} audit_t;

static int mistake(const audit_t *a, const char *what,
                   const ledger_session_t *v)
{
    snprintf(a->why, 200, "%s: group %u, ticket %llu, process %llx, event %llu",
             what, v->group, (unsigned long long)v->ticket,
             (unsigned long long)v->process, (unsigned long long)v->granted);
    return 0;
}

static int by_process(const void *a, const void *b)
{
    const ledger_session_t *va = *(const ledger_session_t *const *)a;
    const ledger_session_t *vb = *(const ledger_session_t *const *)b;

    if (va->process != vb->process)
        return va->process < vb->process ? -1 : 1;
    return va->granted < vb->granted ? -1 : va->granted > vb->granted;
}

static int collect(audit_t *a)
{
    uint64_t all = ledger_sessions(a->l);
    uint32_t i;
    int w;

    a->given = calloc(all + 1, sizeof *a->given);
    a->dead = calloc(all + 1, sizeof *a->dead);
    for (w = 0; w < LEDGER_WORKERS; w++)
        for (i = 0; i < a->l->workers[w].n; i++) {
            const ledger_session_t *v = &a->l->workers[w].sessions[i];

            if (v->died != 0)
                a->dead[a->n_dead++] = v;
            else if (v->closed == 0)
                return mistake(a, "a session without an end", v);
            if (v->granted == 0)
                continue;
            a->given[a->n_given++] = v;
            a->sums->waited += v->waited;
            a->sums->missed += v->missed != 0;
        }
    a->sums->served = a->n_given;
    qsort(a->given, a->n_given, sizeof *a->given, by_process);
    return 1;
}

/* The one before it that had the same process, or NULL. */
static const ledger_session_t *before(const audit_t *a, size_t i)
{
    return i > 0 && a->given[i - 1]->process == a->given[i]->process
               ? a->given[i - 1]
               : NULL;
}

/* The earliest time at which its process was given back. */
static uint64_t end_of(const ledger_session_t *v)
{
    return v->closing != 0 ? v->closing : v->died;
}

static int check_processes(const audit_t *a)
{
    uint64_t ends[LEDGER_WORKERS + 1];
    uint32_t n = 0, times = 0, i, kept;
    size_t k;

    for (k = 0; k < a->n_given; k++) {
        const ledger_session_t *v = a->given[k];
        const ledger_rule_t *rule = &a->rules[v->group];

        if (!before(a, k))
            n = times = 0;
        for (kept = i = 0; i < n; i++)
            if (ends[i] > v->granted)
                ends[kept++] = ends[i];
        ends[kept] = end_of(v);
        n = kept + 1;
        if (n > rule->concurrency)
            return mistake(a, "a process was given to too many at a time", v);
        if (++times > rule->max_requests && rule->max_requests != 0)
            return mistake(a, "a process was given too often", v);
    }
    return 1;
}

/* ---- the order of sessions ---- */

typedef struct {
    uint64_t at;
    const ledger_session_t *v;
    int given; /* it had its process by then; or it had none before */
} mark_t;

static int by_time(const void *a, const void *b)
{
    const mark_t *ma = a, *mb = b;

    return ma->at < mb->at ? -1 : ma->at > mb->at;
}

static const ready_t *ready_of(const ledger_t *l, uint64_t process)
{
    uint32_t i;

    for (i = 0; i < l->n_ready; i++)
        if (l->ready[i].process == process)
            return &l->ready[i];
    return NULL;
}

/* If a process has one session at a time, no session has it before the previous
 * one gave it back. */
static int check_order(const audit_t *a, uint32_t group)
{
    mark_t *marks = calloc(2 * a->n_given + 1, sizeof *marks);
    const ledger_session_t *last = NULL;
    size_t n = 0, i;
    int ok = 1;

    for (i = 0; i < a->n_given; i++) {
        const ledger_session_t *v = a->given[i], *b = before(a, i);
        const ready_t *r = b ? NULL : ready_of(a->l, v->process);

        if (v->group != group)
            continue;
        marks[n++] = (mark_t){v->granted, v, 1};
        if (v->waited && (b || r))
            marks[n++] = (mark_t){b ? end_of(b) : r->begun, v, 0};
    }
    qsort(marks, n, sizeof *marks, by_time);
    for (i = 0; i < n && ok; i++)
        if (!marks[i].given) {
            if (last && last->ticket > marks[i].v->ticket)
                ok = mistake(a, "a session was overtaken", marks[i].v);
        }
        else if (!last || marks[i].v->ticket > last->ticket)
            last = marks[i].v;
    free(marks);
    return ok;
}

/* ---- wake-ups ---- */

/* Could this event have given it its process? */
static int meanwhile(const ledger_session_t *v, uint64_t begun, uint64_t ended)
{
    return begun < v->granted && (ended == 0 || ended > v->asked);
}

/* Its slice was over when it found its process. Check each worker that may have
 * given it the process: was that worker still in that verb, or killed in it? */
static int is_excused(const audit_t *a, size_t i)
{
    const ledger_session_t *v = a->given[i], *b;
    const ready_t *r = ready_of(a->l, v->process);
    size_t k;

    for (k = i; (b = before(a, k)) != NULL; k--)
        if (b->closing != 0 && meanwhile(v, b->closing, b->closed) &&
            (b->closed == 0 || !sleeps_lost(v->missed, b->closed_at)))
            return 1;
    for (k = 0; k < a->n_dead; k++)
        if (meanwhile(v, a->dead[k]->died, 0) &&
            !sleeps_lost(v->missed, a->dead[k]->reported_at))
            return 1;
    return r && !sleeps_lost(v->missed, r->done_at);
}

static int check_sleeps(const audit_t *a)
{
    size_t i;

    for (i = 0; i < a->n_given; i++)
        if (a->given[i]->missed != 0 && !is_excused(a, i))
            return mistake(a, "a wake-up was lost", a->given[i]);
    return 1;
}

static int check_ends(const audit_t *a)
{
    uint32_t i;

    for (i = 0; i < a->l->n_ready; i++) {
        if (a->l->ready[i].gone > 1) {
            snprintf(a->why, 200, "process %llx ended twice",
                     (unsigned long long)a->l->ready[i].process);
            return 0;
        }
        a->sums->ended += a->l->ready[i].gone;
    }
    return 1;
}

int ledger_check(const ledger_t *l, const ledger_rule_t *rules,
                 ledger_sums_t *sums, char why[200])
{
    audit_t a = {.l = l, .rules = rules, .sums = sums, .why = why};
    int ok = collect(&a) && check_processes(&a) && check_sleeps(&a) &&
             check_ends(&a);
    uint32_t group;

    for (group = 1; group <= 3 && ok; group++)
        ok = rules[group].concurrency != 1 || check_order(&a, group);
    free(a.given);
    free(a.dead);
    return ok;
}
