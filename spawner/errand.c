/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/errand.h"

#include <signal.h>
#include <unistd.h>

#include "spawner/fresh.h"

static errand_t *errands;

pid_t errand_fork(spawner_t *s, errand_t *e, int64_t limit,
                  errand_ended_t *ended)
{
    pid_t pid = fork();

    if (pid < 0)
        return -1;
    if (pid == 0) {
        setsid();
        fresh_signals();
        alarm((unsigned)(limit / SECOND) + 1);
        return 0;
    }
    e->pid = pid;
    e->until = s->now + limit;
    e->ended = ended;
    e->next = errands;
    errands = e;
    state_wake(s, e->until);
    return pid;
}

static void forget(errand_t *e)
{
    errand_t **at;

    for (at = &errands; *at; at = &(*at)->next)
        if (*at == e) {
            *at = e->next;
            break;
        }
    e->pid = 0;
}

void errand_reap(spawner_t *s, const siginfo_t *cause)
{
    errand_t *e;

    for (e = errands; e; e = e->next)
        if (e->pid == cause->si_pid) {
            forget(e);
            e->ended(s, e, cause);
            return;
        }
}

/* It is a child that is not reaped, so the number is its own. */
static void end(const errand_t *e)
{
    if (kill(-e->pid, SIGKILL) != 0)
        kill(e->pid, SIGKILL); /* before its setsid() */
}

void errand_tend(spawner_t *s)
{
    errand_t *e, *next;

    for (e = errands; e; e = next) {
        next = e->next;
        if (s->now < e->until) {
            state_wake(s, e->until);
            continue;
        }
        end(e);
        forget(e);
        e->ended(s, e, NULL);
    }
}

void errand_stop(void)
{
    for (; errands; errands = errands->next)
        end(errands);
}
