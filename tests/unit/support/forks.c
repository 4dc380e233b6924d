/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "tests/unit/support/forks.h"

#include <errno.h>
#include <signal.h>

#include "spawner/state/helper_job.h"

forks_t forks;

pid_t __real_helper_job_fork(spawner_t *s, helper_job_t *e, int64_t limit,
                             helper_job_ended_t *ended);
pid_t __wrap_helper_job_fork(spawner_t *s, helper_job_t *e, int64_t limit,
                             helper_job_ended_t *ended);

pid_t __wrap_helper_job_fork(spawner_t *s, helper_job_t *e, int64_t limit,
                             helper_job_ended_t *ended)
{
    forks.tried++;
    if (forks.refused > 0) {
        forks.refused--;
        errno = EAGAIN;
        return -1;
    }
    forks.child = __real_helper_job_fork(s, e, limit, ended);
    if (forks.child == 0 && forks.stopped)
        raise(SIGSTOP);
    return forks.child;
}
