/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file job.h
 * @brief A helper job: a short-lived child of the spawner for work that may
 *        block. It has a time limit. A function of its owner is called at its
 *        end. It belongs to no app.
 *
 *     switch (job_fork(s, &job, 2 * SECOND, ended)) {
 *     case 0: work(); _exit(0);
 *     case -1: could_not();
 *     }
 *
 * When the limit is over, the child gets SIGKILL. That ends every wait in
 * /proc, for example. What the child leaves in its process group, or in its
 * cgroup if it has one, is killed with it.
 *
 * Errors: -1 with errno.
 * Crash:  the child has an alarm(2) of its own, one second later than the
 *         limit. So it ends in time even if the spawner was killed.
 */
#ifndef APPPOOL_SPAWNER_PROCESS_JOB_H
#define APPPOOL_SPAWNER_PROCESS_JOB_H

#include "spawner/process/state.h"

typedef struct job job_t;

/** The job has ended and is out of the list: its structure may be used again.
 * It is not reaped yet.
 * @param cause of its end; NULL: it took too long, and was killed */
typedef void job_ended_t(spawner_t *s, job_t *job, const siginfo_t *cause);

/** A job. The memory is its owner's, and must stay until the job has ended. */
struct job {
    job_t *next;
    pid_t pid;     /**< 0: none runs */
    uint64_t id;   /**< of its cgroup, which the child enters; 0: none. Its
                        owner sets this after the fork */
    int64_t until; /**< us */
    int late;      /**< it took too long; SIGKILL was sent */
    int report;    /**< pipe of its report, read when it has ended; -1: none */
    job_ended_t *ended;
};

/**
 * Fork. The child leads a session, and its signals are reset (child_reset.h).
 * Everything else is as in the spawner, also descriptors and rights.
 * @param limit us
 * @return 0 in the child; the child's pid; -1
 */
pid_t job_fork(spawner_t *s, job_t *job, int64_t limit, job_ended_t *ended);

/** Fork a child that reports: at most 64 KiB. It never waits for its report to
 * be read. */
pid_t job_fork_reporting(spawner_t *s, job_t *job, int64_t limit,
                         job_ended_t *ended);

/** In the child: add to the report. @return 0; -1: there is no room */
int job_report(const void *report, size_t size);

/** For `ended`: the next `size` bytes of the report. @return 0; -1: no more */
int job_read(const job_t *job, void *report, size_t size);

/** Does a job that runs have the cgroup `id`? */
int job_has_cgroup(uint64_t id);

/** Is this child of the spawner a job that runs? */
int job_has_child(pid_t pid);

/** A child is dead and not reaped yet. If it is a job, the job has ended. */
void job_reap(spawner_t *s, const siginfo_t *cause);

/** End the jobs that take too long. */
void job_tick(spawner_t *s);

/** The spawner ends: end all jobs at once, and reap them (reap.h). */
void job_stop(void);

#endif
