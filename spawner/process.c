/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "spawner/cgroup.h"
#include "spawner/hunt.h"
#include "spawner/pidfd.h"
#include "spawner/procfs.h"

#define STOP_TIMEOUT (30 * SECOND) /* of an app that left the table */
#define DYING_LIMIT  (10 * SECOND)

static uint32_t free_record(const spawner_t *s)
{
    const process_t *p;
    uint32_t i = 0;

again:
    for (p = s->processes; p; p = p->next)
        if (p->record == i) {
            i++;
            goto again;
        }
    return i;
}

process_t *process_new(spawner_t *s, uint64_t id, const char *name)
{
    process_t *p = calloc(1, sizeof *p);

    if (!p)
        return NULL;
    p->record = free_record(s);
    p->is.magic = REGISTRY_MAGIC;
    p->is.id = id;
    p->is.uid = p->is.gid = UINT32_MAX;
    snprintf(p->is.name, sizeof p->is.name, "%s", name);
    p->probe = p->entry = -1;
    p->seek = p->strays = -1;
    p->pidfd.fd = p->reports.fd = p->fifo.fd = p->notify.fd = -1;
    p->stop_timeout = STOP_TIMEOUT;
    p->dying_limit = DYING_LIMIT;
    snprintf(p->label, sizeof p->label, "%s", name);
    p->next = s->processes;
    s->processes = p;
    process_configure(s, p);
    return p;
}

void process_configure(spawner_t *s, process_t *p)
{
    const table_app_t *a = s->table ? table_find(s->table, p->is.name) : NULL;

    if (!a)
        return;
    p->outdated = 0;
    p->stop_timeout = a->stop_timeout;
    p->dying_limit = a->dying_limit;
    snprintf(p->label, sizeof p->label, "%s", a->label);
    output_to(p, a->log ? a->log : "");
}

process_t *process_find(const spawner_t *s, uint64_t id)
{
    process_t *p;

    for (p = s->processes; p; p = p->next)
        if (p->is.id == id)
            return p;
    return NULL;
}

process_t *process_of_child(const spawner_t *s, pid_t pid)
{
    process_t *p;

    for (p = s->processes; p; p = p->next)
        if (p->child && !p->gone && p->is.pid == pid)
            return p;
    return NULL;
}

int process_record(process_t *p, uint32_t state)
{
    p->is.state = state;
    return registry_write(p->record, &p->is);
}

/* ---- all that it has started ---- */

typedef struct {
    const process_t *p;
    int sign; /* 0: only count */
    int found;
} members_t;

/* Of the leader's session, which only processes of this app can be in: its
 * number is not given away while somebody is. Once the leader is dead, a
 * younger one than that must bear the mark: hunt.h. */
static void member(const procfs_t *who, void *ctx)
{
    members_t *m = ctx;
    const registry_record_t *is = &m->p->is;

    if (who->state == 'Z' || who->state == 'X' || who->session != is->pid ||
        who->start < is->start ||
        (who->pid == is->pid && who->start != is->start) ||
        (m->p->gone && who->start > m->p->died_ticks))
        return;
    m->found++;
    if (m->sign)
        procfs_signal(who->pid, who->start, m->sign);
}

static int members(const process_t *p, int sign)
{
    members_t m = {p, sign, 0};

    procfs_each(member, &m);
    return m.found;
}

void process_signal(spawner_t *s, process_t *p, int sign)
{
    int populated = cgroup_populated(p->is.id);

    if (sign == SIGKILL)
        cgroup_kill(p->is.id);
    if (p->is.pid <= 1)
        return;
    if (!p->gone && p->child) {
        /* Dead or alive, it is not reaped yet. */
        if (kill(-p->is.pid, sign) != 0)
            kill(p->is.pid, sign); /* before its setsid() */
        if (sign != SIGKILL)
            return;
    }
    else if (!p->gone)
        pidfd_send_signal(p->pidfd.fd, sign, NULL, 0);
    else if (populated == 0)
        return;
    members(p, sign);
    /* Nothing that it has started can leave its cgroup. */
    if ((sign == SIGKILL && populated < 0) || (sign != SIGKILL && p->gone))
        hunt_ask(s, p, sign);
}

int process_remains(spawner_t *s, process_t *p)
{
    int populated = cgroup_populated(p->is.id);

    if (populated >= 0)
        return populated;
    if (p->is.pid <= 1)
        return 0;
    if (members(p, 0) > 0)
        return 1;
    if (p->strays != 0)
        hunt_ask(s, p, 0);
    return p->strays != 0;
}

void process_collect(spawner_t *s)
{
    process_t **at = &s->processes, *p;

    while ((p = *at) != NULL) {
        if (!p->done) {
            at = &p->next;
            continue;
        }
        *at = p->next;
        output_forget(&p->output);
        free(p->command);
        free(p->failure);
        free(p);
    }
}
