/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "tests/unit/support/forks.h"

#include <errno.h>
#include <signal.h>

#include "spawner/process/job.h"

forks_t forks;

pid_t __real_job_fork(spawner_t *s, job_t *e, int64_t limit,
                      job_ended_t *ended);
pid_t __wrap_job_fork(spawner_t *s, job_t *e, int64_t limit,
                      job_ended_t *ended);

pid_t __wrap_job_fork(spawner_t *s, job_t *e, int64_t limit, job_ended_t *ended)
{
    forks.tried++;
    if (forks.refused > 0) {
        forks.refused--;
        errno = EAGAIN;
        return -1;
    }
    forks.child = __real_job_fork(s, e, limit, ended);
    if (forks.child == 0 && forks.stopped)
        raise(SIGSTOP);
    return forks.child;
}
