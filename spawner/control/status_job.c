/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/control/status_job.h"

#include <sys/mman.h>
#include <unistd.h>

#include "shm/view/report.h"
#include "spawner/state/helper_job.h"
#include "spawner/common/child_reset.h"

#define PAUSE (SECOND / 20) /* from one child to the next, at least */

/* Shared with the child. Memory that nobody writes does not exist. */
typedef struct {
    size_t size;
    char text[CONTRACT_RESPONSE_MAX];
} answer_t;

static helper_job_t maker;
static answer_t *answer;
static status_job_made_t *tell;
static int64_t began, again; /* us */

/* Without the spawner's descriptors: a client waits for the end of its
 * connection, which the child would have open as well. */
static _Noreturn void work(spawner_t *s, const status_job_order_t *order)
{
    json_t *o;

    child_reset_descriptors(-1);
    o = order->make(s, order);
    answer->size = o ? json_dumpb(o, answer->text, sizeof answer->text,
                                  JSON_INDENT(1) | APL_REPORT_REALS)
                     : 0;
    _exit(answer->size == 0 || answer->size > sizeof answer->text);
}

static void forget(void)
{
    munmap(answer, sizeof *answer);
    answer = NULL;
}

static void ended(spawner_t *s, helper_job_t *e, const siginfo_t *cause)
{
    int good = cause && cause->si_code == CLD_EXITED && cause->si_status == 0;
    int64_t took = s->now - began;

    (void)e;
    again = s->now + (took > PAUSE ? took : PAUSE);
    tell(s, good ? answer->text : NULL, good ? answer->size : 0);
    forget();
    state_wake(s, s->now);
}

int status_job_begin(spawner_t *s, const status_job_order_t *order,
                     status_job_made_t *made)
{
    pid_t pid;

    if (maker.pid != 0)
        return 0;
    if (s->now < again) {
        state_wake(s, again);
        return 0;
    }
    answer = mmap(NULL, sizeof *answer, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (answer == MAP_FAILED)
        return -1;
    pid = helper_job_fork(
        s, &maker, order->limit > 0 ? order->limit : STATUS_JOB_LIMIT, ended);
    if (pid == 0)
        work(s, order);
    if (pid < 0) {
        forget();
        return -1;
    }
    began = s->now;
    tell = made;
    return 1;
}
