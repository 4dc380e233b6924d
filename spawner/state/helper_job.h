/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file helper_job.h
 * @brief Short-lived children of the spawner's own, for what may block: with
 *        a time limit, and news of their end. They are none of an app's.
 *
 *     switch (errand_fork(s, &e, 2 * SECOND, ended)) {
 *     case 0: work(); _exit(0);
 *     case -1: could_not();
 *     }
 *
 * A limit ends the child, whatever it waits for, as long as SIGKILL ends that
 * wait: so it is with all of /proc. What it leaves in its process group, or
 * in its cgroup, if it has one, ends with it.
 *
 * Errors: -1 with errno.
 * Crash:  the child has an alarm(2) of its own, a second later than the
 *         limit: it ends in time, too, when the spawner was killed.
 */
#ifndef APPPOOL_SPAWNER_STATE_HELPER_JOB_H
#define APPPOOL_SPAWNER_STATE_HELPER_JOB_H

#include "spawner/state/state.h"

typedef struct errand errand_t;

/** It is over, dead and forgotten: the errand may be used again.
 * @param cause of its end; NULL: it took too long, and was killed */
typedef void errand_ended_t(spawner_t *s, errand_t *e, const siginfo_t *cause);

/** In its owner's memory, which has to stay until it has ended. */
struct errand {
    errand_t *next;
    pid_t pid;     /**< 0: none runs */
    uint64_t id;   /**< of its cgroup, which it is to enter; 0: it has none.
                        Set by its owner, when there is a child */
    int64_t until; /**< us */
    int late;      /**< it was killed, but is not dead yet */
    int answer;    /**< what it writes, to be read when it has ended; -1 */
    errand_ended_t *ended;
};

/**
 * Fork. The child leads a session and has fresh signals (child_reset.h), but
 * all else is as in the spawner, descriptors and rights as well.
 * @param limit us
 * @return 0 in the child; the child's pid; -1
 */
pid_t errand_fork(spawner_t *s, errand_t *e, int64_t limit,
                  errand_ended_t *ended);

/** The same, for a child with an answer: 64 KiB at most, and nobody waits for
 * it to be read. */
pid_t errand_ask(spawner_t *s, errand_t *e, int64_t limit,
                 errand_ended_t *ended);

/** In the child: add to the answer. @return 0; -1: there is no room */
int errand_tell(const void *answer, size_t size);

/** The next `size` bytes of the answer, for `ended`. @return 0; -1: no more */
int errand_read(const errand_t *e, void *answer, size_t size);

/** Does an errand that runs have the cgroup `id`? */
int errand_owns(uint64_t id);

/** A child that is dead and not reaped yet: if it is an errand, that is over.
 */
void errand_reap(spawner_t *s, const siginfo_t *cause);

/** End those that take too long. */
void errand_tend(spawner_t *s);

/** The spawner ends: so do they, at once. */
void errand_stop(void);

#endif
