/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "spawner/cgroup.h"
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
    p->probe = -1;
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
    snprintf(p->log, sizeof p->log, "%s", a->log ? a->log : "");
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
    char mark[40];
    int sign; /* 0: only count */
    int found;
} members_t;

/* Of the leader's session, which only processes of this app can be in: its
 * number is not given away while somebody is. Once the leader is dead, a
 * younger one than that must bear the mark. Whoever bears it is meant, too,
 * by KILL and when the leader is dead. */
static void member(const procfs_t *who, void *ctx)
{
    members_t *m = ctx;
    const registry_record_t *is = &m->p->is;

    int ours = who->session == is->pid && who->start >= is->start &&
               (who->pid != is->pid || who->start == is->start);

    if (who->state == 'Z' || who->state == 'X' || who->pid == getpid())
        return;
    if (ours && m->p->gone && who->start > m->p->died_ticks)
        ours = 0;
    if (!ours && ((m->sign != SIGKILL && !m->p->gone) ||
                  who->start < is->start || !procfs_marked(who->pid, m->mark)))
        return;
    m->found++;
    if (m->sign)
        procfs_signal(who->pid, who->start, m->sign);
}

static int members(const spawner_t *s, const process_t *p, int sign)
{
    members_t m = {p, "", sign, 0};

    snprintf(m.mark, sizeof m.mark, "%s-" CONTRACT_ID_FMT, s->instance,
             p->is.id);
    procfs_each(member, &m);
    return m.found;
}

void process_signal(const spawner_t *s, const process_t *p, int sign)
{
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
    else if (cgroup_populated(p->is.id) == 0)
        return;
    members(s, p, sign);
}

int process_remains(const spawner_t *s, const process_t *p)
{
    int populated = cgroup_populated(p->is.id);

    if (populated >= 0)
        return populated;
    return p->is.pid <= 1 ? 0 : members(s, p, 0);
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
