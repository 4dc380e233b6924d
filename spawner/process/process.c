/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/process/process.h"

#include <apr_hash.h>
#include <apr_strings.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/panic.h"
#include "spawner/process/guarded_socket.h"

#define STOP_TIMEOUT      (30 * SECOND) /* of an app that has left the table */
#define HUNG_STOP_TIMEOUT (10 * SECOND)
#define RETIRE_TIMEOUT    (60 * SECOND)

/* ---- the index ---- */

static void open_index(spawner_t *s)
{
    apr_pool_t *pool;

    if (s->by_id)
        return;
    apr_pool_create(&pool, s->pool);
    s->by_id = apr_hash_make(pool);
    s->by_child = apr_hash_make(pool);
    s->by_port = apr_hash_make(pool);
}

/* The index also points to the key, so the old entry is removed first. */
static void put(apr_hash_t *index, const void *key, apr_ssize_t size,
                process_t *p)
{
    apr_hash_set(index, key, size, NULL);
    apr_hash_set(index, key, size, p);
}

/* Another process may have this number by now. */
static void drop(apr_hash_t *index, const void *key, apr_ssize_t size,
                 const process_t *p)
{
    if (apr_hash_get(index, key, size) == p)
        apr_hash_set(index, key, size, NULL);
}

static process_t *get(apr_hash_t *index, const void *key, apr_ssize_t size)
{
    return index ? apr_hash_get(index, key, size) : NULL;
}

process_t *process_find(const spawner_t *s, uint64_t id)
{
    return get(s->by_id, &id, sizeof id);
}

process_t *process_of_child(const spawner_t *s, pid_t pid)
{
    int32_t number = pid;
    process_t *p = get(s->by_child, &number, sizeof number);

    return p && !p->gone ? p : NULL;
}

process_t *process_of_port(const spawner_t *s, uint32_t port)
{
    return get(s->by_port, &port, sizeof port);
}

/* The path is DIR/KIND/ID or DIR/KIND/ID/s. The id is read from it, and the
 * rest is compared. */
process_t *process_of_path(const spawner_t *s, const char *path)
{
    size_t length = strlen(s->rt.dir);
    const char *id;
    process_files_path_t own;
    process_t *p;

    if (strncmp(path, s->rt.dir, length) != 0 || path[length] != '/')
        return NULL;
    id = strchr(path + length + 1, '/');
    p = id ? process_find(s, strtoull(id + 1, NULL, 16)) : NULL;
    if (!p || p->is.wire.listen == APL_LISTEN_TCP)
        return NULL;
    process_files_path(&s->rt, process_files_kind(p->is.wire.listen), p->is.id,
                       own);
    return strcmp(path, own) == 0 ? p : NULL;
}

/* ---- the list ---- */

static process_t *make(spawner_t *s, uint32_t record,
                       const registry_record_t *is)
{
    process_t *p = calloc(1, sizeof *p);

    if (!p)
        return NULL;
    open_index(s);
    p->record = record;
    p->is = *is;
    p->ready.probe = p->ready.socket = -1;
    p->template.orders = p->forking.go = -1;
    p->marks.signal = p->marks.found = p->session.found = -1;
    p->pidfd.fd = p->reports.fd = p->fifo.fd = p->notify.fd = -1;
    p->app.stop_timeout = STOP_TIMEOUT;
    p->app.hung_stop_timeout = HUNG_STOP_TIMEOUT;
    p->app.retire_timeout = RETIRE_TIMEOUT;
    p->app.stop_signal = SIGTERM;
    apr_cpystrn(p->label, is->name, sizeof p->label);
    p->next = s->processes;
    s->processes = p;
    put(s->by_id, &p->is.id, sizeof p->is.id, p);
    return p;
}

process_t *process_new(spawner_t *s, uint64_t id, const char *name)
{
    registry_record_t is = {.magic = REGISTRY_MAGIC,
                            .id = id,
                            .uid = UINT32_MAX,
                            .gid = UINT32_MAX,
                            .wire.concurrency = APL_CONCURRENCY_AUTO};
    int record = registry_take();
    process_t *p;

    snprintf(is.name, sizeof is.name, "%s", name);
    p = record < 0 ? NULL : make(s, (uint32_t)record, &is);
    if (!p && record >= 0)
        registry_clear((uint32_t)record);
    return p;
}

process_t *process_adopted(spawner_t *s, uint32_t record,
                           const registry_record_t *is)
{
    process_t *p = make(s, record, is);

    if (!p)
        return NULL;
    registry_keep(record);
    if (is->wire.port != 0)
        put(s->by_port, &p->is.wire.port, sizeof p->is.wire.port, p);
    return p;
}

void process_forked(spawner_t *s, process_t *p, pid_t pid)
{
    PANIC_UNLESS(pid > 1); /* kill(-1) would hit all processes */
    p->is.pid = pid;
    p->child = 1;
    put(s->by_child, &p->is.pid, sizeof p->is.pid, p);
}

void process_started_as(process_t *p, const process_t *t)
{
    p->is.uid = t->is.uid;
    p->is.gid = t->is.gid;
    p->is.wire.protocol = t->is.wire.protocol;
    p->is.wire.concurrency = t->is.wire.concurrency;
    p->is.stamp = t->is.stamp;
    snprintf(p->start.user, sizeof p->start.user, "%s", t->start.user);
    free(p->start.command);
    p->start.command = t->start.command ? strdup(t->start.command) : NULL;
}

void process_forget_child(spawner_t *s, process_t *p)
{
    drop(s->by_child, &p->is.pid, sizeof p->is.pid, p);
    p->is.pid = 0;
    p->child = 0;
}

apl_start_t process_start(const process_t *p)
{
    return (apl_start_t){.identity = {.pid = p->is.pid, .start = p->is.start},
                         .wire = p->is.wire,
                         .stamp = p->is.stamp};
}

void process_has_port(spawner_t *s, process_t *p, uint32_t port)
{
    p->is.wire.port = port;
    put(s->by_port, &p->is.wire.port, sizeof p->is.wire.port, p);
}

int process_record(process_t *p, uint32_t state)
{
    p->is.state = state;
    if (p->is.pid == 0)
        return 0; /* nothing of it runs: a record has to name a process */
    return registry_write(p->record, &p->is);
}

void process_end_probe(process_t *p)
{
    if (p->ready.probe >= 0)
        guarded_socket_close(p->ready.probe);
    if (p->ready.socket >= 0)
        close(p->ready.socket);
    p->ready.probe = p->ready.socket = -1;
}

static void close_one(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

void process_end_forking(process_t *p)
{
    close_one(&p->template.orders);
    close_one(&p->forking.go);
}

void process_collect(spawner_t *s)
{
    process_t **at = &s->processes, *p;

    while ((p = *at) != NULL) {
        if (!p->done) {
            at = &p->next;
            continue;
        }
        PANIC_UNLESS(p->fifo.fd < 0 && p->notify.fd < 0 && p->reports.fd < 0 &&
                     p->pidfd.fd < 0 && p->ready.probe < 0 &&
                     p->ready.socket < 0 && p->template.orders < 0 &&
                     p->forking.go < 0);
        *at = p->next;
        drop(s->by_id, &p->is.id, sizeof p->is.id, p);
        drop(s->by_child, &p->is.pid, sizeof p->is.pid, p);
        drop(s->by_port, &p->is.wire.port, sizeof p->is.wire.port, p);
        free(p->app.log);
        free(p->app.error_format);
        free(p->start.command);
        free(p->start.failure);
        free(p->start.reason);
        free(p->slow_start.text);
        free(p->wrong_port.ports);
        free(p);
    }
}
