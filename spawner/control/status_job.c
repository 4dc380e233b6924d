/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/control/control.h"

#include <sys/mman.h>
#include <unistd.h>

#include "shm/view/view.h"
#include "spawner/process/job.h"
#include "system/child_reset.h"

#define PAUSE (SECOND / 20) /* minimum time between two jobs */

/* Shared with the child. Pages that are never written take no memory. */
typedef struct {
    size_t size;
    char text[CONTRACT_RESPONSE_MAX];
} response_t;

static job_t running_job;
static response_t *response;
static status_job_made_t *on_made;
static int64_t began, again; /* us */

/* The child closes the descriptors of the spawner. A client waits for the end
 * of its connection, and the child would keep a copy open. */
static _Noreturn void work(spawner_t *s, const status_job_order_t *order)
{
    json_t *o;

    child_reset_descriptors(-1);
    o = order->make(s, order);
    response->size = o ? json_dumpb(o, response->text, sizeof response->text,
                                    JSON_INDENT(1) | APL_REPORT_REALS)
                       : 0;
    _exit(response->size == 0 || response->size > sizeof response->text);
}

static void forget(void)
{
    munmap(response, sizeof *response);
    response = NULL;
}

static void ended(spawner_t *s, job_t *job, const siginfo_t *cause)
{
    int good = cause && cause->si_code == CLD_EXITED && cause->si_status == 0;
    int64_t took = s->now - began;

    (void)job;
    again = s->now + (took > PAUSE ? took : PAUSE);
    on_made(s, good ? response->text : NULL, good ? response->size : 0);
    forget();
    state_wake(s, s->now);
}

int status_job_begin(spawner_t *s, const status_job_order_t *order,
                     status_job_made_t *made)
{
    pid_t pid;

    if (running_job.pid != 0)
        return 0;
    if (s->now < again) {
        state_wake(s, again);
        return 0;
    }
    response = mmap(NULL, sizeof *response, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (response == MAP_FAILED)
        return -1;
    pid = job_fork(s, &running_job,
                   order->limit > 0 ? order->limit : STATUS_JOB_LIMIT, ended);
    if (pid == 0)
        work(s, order);
    if (pid < 0) {
        forget();
        return -1;
    }
    began = s->now;
    on_made = made;
    return 1;
}
