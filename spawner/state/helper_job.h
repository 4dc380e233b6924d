/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file helper_job.h
 * @brief Short-lived children of the spawner's own, for what may block: with
 *        a time limit, and news of their end. They are none of an app's.
 *
 *     switch (helper_job_fork(s, &e, 2 * SECOND, ended)) {
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

typedef struct errand helper_job_t;

/** It is over, dead and forgotten: the errand may be used again.
 * @param cause of its end; NULL: it took too long, and was killed */
typedef void helper_job_ended_t(spawner_t *s, helper_job_t *e,
                                const siginfo_t *cause);

/** In its owner's memory, which has to stay until it has ended. */
struct errand {
    helper_job_t *next;
    pid_t pid;     /**< 0: none runs */
    uint64_t id;   /**< of its cgroup, which it is to enter; 0: it has none.
                        Set by its owner, when there is a child */
    int64_t until; /**< us */
    int late;      /**< it was killed, but is not dead yet */
    int answer;    /**< what it writes, to be read when it has ended; -1 */
    helper_job_ended_t *ended;
};

/**
 * Fork. The child leads a session and has fresh signals (child_reset.h), but
 * all else is as in the spawner, descriptors and rights as well.
 * @param limit us
 * @return 0 in the child; the child's pid; -1
 */
pid_t helper_job_fork(spawner_t *s, helper_job_t *e, int64_t limit,
                      helper_job_ended_t *ended);

/** The same, for a child with an answer: 64 KiB at most, and nobody waits for
 * it to be read. */
pid_t helper_job_fork_reporting(spawner_t *s, helper_job_t *e, int64_t limit,
                                helper_job_ended_t *ended);

/** In the child: add to the answer. @return 0; -1: there is no room */
int helper_job_report(const void *answer, size_t size);

/** The next `size` bytes of the answer, for `ended`. @return 0; -1: no more */
int helper_job_read(const helper_job_t *e, void *answer, size_t size);

/** Does an errand that runs have the cgroup `id`? */
int helper_job_has_cgroup(uint64_t id);

/** A child that is dead and not reaped yet: if it is an errand, that is over.
 */
void helper_job_reap(spawner_t *s, const siginfo_t *cause);

/** End those that take too long. */
void helper_job_tick(spawner_t *s);

/** The spawner ends: so do they, at once. */
void helper_job_stop(void);

#endif
