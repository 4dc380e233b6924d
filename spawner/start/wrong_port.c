/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/start/wrong_port.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "system/cgroup.h"
#include "system/child_reset.h"
#include "spawner/output/app_log.h"
#include "spawner/process/job.h"
#include "spawner/process/process.h"

#define FIRST   SECOND /* from the begin of the start to the first look */
#define LIMIT   (2 * SECOND)
#define AT_ONCE 4 /* maximum number of jobs at the same time */

typedef struct {
    job_t job;   /* first, so that its address is that of this structure */
    uint64_t id; /* of the process */
} look_t;

static int running; /* jobs */

void wrong_port_list(const own_ports_t *found, uint32_t own, char *text,
                     size_t size)
{
    uint32_t i, n = 0;
    size_t used = 0;

    *text = 0;
    for (i = 0; i < found->n; i++)
        n += found->port[i] != own;
    for (i = 0; i < found->n && used + sizeof "ports 65535" < size; i++)
        if (found->port[i] != own)
            used += (size_t)snprintf(text + used, size - used, "%s%u",
                                     used > 0 ? ", "
                                     : n > 1  ? "ports "
                                              : "port ",
                                     found->port[i]);
}

int wrong_port_is_known(const process_t *p)
{
    return *p->wrong_port.ports != 0;
}

void wrong_port_forget(process_t *p)
{
    *p->wrong_port.ports = 0;
}

void wrong_port_say(const process_t *p, const char *listens, char *text,
                    size_t size)
{
    char own[32];

    snprintf(own, sizeof own, "port %u", p->is.wire.port);
    snprintf(text, size,
             "%s on TCP %s, where httpd does not connect (%s the port to "
             "listen on is in $PORT), and did not accept connections on %s",
             listens, p->wrong_port.ports,
             p->is.wire.listen == APL_LISTEN_TCP ? "AppListen is tcp:"
                                                 : "with AppListen tcp,",
             p->is.wire.listen == APL_LISTEN_TCP  ? own
             : p->is.wire.listen == APL_LISTEN_FD ? "descriptor 3"
                                                  : "$APPPOOL_SOCKET");
}

static void ended(spawner_t *s, job_t *job, const siginfo_t *cause)
{
    const look_t *look = (look_t *)job;
    process_t *p = process_find(s, look->id);
    own_ports_t found;
    char text[256];

    (void)cause;
    if (p && p->phase == PHASE_BOOTING &&
        job_read(job, &found, sizeof found) == 0) {
        int is_new = !wrong_port_is_known(p);

        wrong_port_list(
            &found, p->is.wire.listen == APL_LISTEN_TCP ? p->is.wire.port : 0,
            p->wrong_port.ports, sizeof p->wrong_port.ports);
        wrong_port_say(p, "listens", text, sizeof text);
        if (is_new && wrong_port_is_known(p))
            app_log(p, LOG_WARN, "%s yet", text);
    }
    running--;
    free(job);
}

static _Noreturn void work(const process_t *p)
{
    own_ports_t found;

    child_reset_descriptors(cgroup_descriptor());
    own_ports_find(p, &found);
    _exit(job_report(&found, sizeof found) == 0 ? 0 : 1);
}

void wrong_port_look(spawner_t *s, process_t *p)
{
    look_t *look;

    if (p->wrong_port.look_at == 0)
        p->wrong_port.look_at = p->is.began + FIRST;
    if (s->now < p->wrong_port.look_at || running == AT_ONCE)
        return;
    p->wrong_port.look_at = s->now + 2 * (s->now - p->is.began);
    look = calloc(1, sizeof *look);
    switch (look ? job_fork_reporting(s, &look->job, LIMIT, ended) : -1) {
    case 0:
        work(p);
    case -1:
        free(look);
        return;
    }
    look->id = p->is.id;
    running++;
}
