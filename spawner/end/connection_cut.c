/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/end/end.h"

#include <unistd.h>

#include "shm/slots/connection_state.h"
#include "base/contract.h"
#include "base/parking.h"
#include "spawner/process/job.h"

#define LIMIT (5 * SECOND)
#define PAUSE (SECOND / 10) /* between two jobs for one process */

static job_t cutter;

/* In the child. The process that had this place may have ended by now. */
static int is_still_unused(const spawner_t *s, const process_t *p)
{
    uint64_t word;

    return apl_connection_is_unused(&s->shm, p->is.id, &word) &&
           word == p->cut.word;
}

/* In the child. */
static _Noreturn void cut_all(const spawner_t *s)
{
    int sockets[PARKING_MAX], n = parking_open(CONTRACT_PARKING_FD, sockets);
    int failed = n < 0;
    const process_t *p;

    for (p = s->processes; p; p = p->next) {
        int place = (int)(p->is.id & 0xffff) - 1;

        if (p->cut.running && place >= 0 && place < n &&
            is_still_unused(s, p)) {
            parking_restore(sockets[place]);
            failed |= parking_cut(sockets[place]) != 0;
        }
    }
    _exit(failed);
}

/* Pass the connections that are wanted to the job.
 * @return how many */
static int take_wanted(spawner_t *s)
{
    process_t *p;
    int n = 0;

    for (p = s->processes; p; p = p->next) {
        p->cut.running = p->cut.wanted;
        p->cut.wanted = 0;
        n += p->cut.running;
    }
    return n;
}

/* The job has not cut its connections: ask for them again. */
static void forget_running(spawner_t *s)
{
    process_t *p;

    for (p = s->processes; p; p = p->next) {
        if (p->cut.running)
            p->cut.word = 0;
        p->cut.running = 0;
    }
}

static int has_succeeded(const siginfo_t *cause)
{
    return cause && cause->si_code == CLD_EXITED && cause->si_status == 0;
}

static void start(spawner_t *s);

static void ended(spawner_t *s, job_t *e, const siginfo_t *cause)
{
    (void)e;
    if (!has_succeeded(cause))
        forget_running(s);
    start(s);
    state_wake(s, s->now); /* for processes that have waited for it */
}

static void start(spawner_t *s)
{
    pid_t pid;

    if (take_wanted(s) == 0)
        return;
    pid = job_fork(s, &cutter, LIMIT, ended);
    if (pid == 0)
        cut_all(s);
    if (pid < 0)
        forget_running(s);
}

int connection_cut_is_under_way(const process_t *p)
{
    return p->cut.wanted || p->cut.running;
}

/* A child of httpd has written the word. Changes of it must not make root fork
 * all the time. A process is stopped only once, and would continue to read on
 * its connection. */
static int may_ask(const spawner_t *s, const process_t *p)
{
    return (p->phase >= PHASE_ENDING && !p->cut.at_stop) ||
           s->now >= p->cut.not_before;
}

static void ask(spawner_t *s, process_t *p, uint64_t word)
{
    p->cut.at_stop = p->phase >= PHASE_ENDING;
    p->cut.not_before = s->now + PAUSE;
    p->cut.word = word;
    p->cut.wanted = 1;
    if (cutter.pid == 0)
        start(s);
}

int connection_cut_ask(spawner_t *s, process_t *p)
{
    uint64_t word;

    if (apl_connection_is_unused(&s->shm, p->is.id, &word) &&
        word != p->cut.word) {
        if (may_ask(s, p))
            ask(s, p, word);
        if (word != p->cut.word)
            state_wake(s, p->cut.not_before);
    }
    return connection_cut_is_under_way(p);
}

void connection_cut_ask_if_left(spawner_t *s, process_t *p)
{
    uint64_t word;

    if (apl_connection_is_unused(&s->shm, p->is.id, &word) &&
        apl_connection_is_left(word))
        connection_cut_ask(s, p);
}
