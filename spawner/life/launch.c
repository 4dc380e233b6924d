/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/life/launch.h"

#include <apr_strings.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "spawner/child/boot.h"
#include "spawner/alert/start_failure.h"
#include "spawner/life/phase.h"
#include "spawner/common/log.h"
#include "spawner/common/random.h"
#include "spawner/life/sd_notify.h"
#include "spawner/life/overdue.h"
#include "spawner/upkeep/apply_table.h"
#include "spawner/output/output.h"
#include "spawner/state/process.h"
#include "spawner/common/procfs.h"
#include "spawner/output/app_log.h"

#define AT_ONCE  8             /* maximum number of booting processes */
#define PATIENCE (10 * SECOND) /* a process that boots longer does not count */

/* Descriptors for the child; all -1 at first. */
typedef struct {
    int listener, output, go[2], report[2];
} parts_t;

static void close_parts(parts_t *x)
{
    int *fds = (int *)x;
    size_t i;

    for (i = 0; i < sizeof *x / sizeof *fds; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    memset(x, -1, sizeof *x);
}

/* ---- what the child reports ---- */

/* The registry comes first: if a process is LIVE in the segment, the next
 * spawner must know its protocol. */
static void found(spawner_t *s, process_t *p, const boot_report_t *got)
{
    apl_identity_t who = {p->is.pid, 0, p->is.start};

    p->is.wire.protocol = (uint16_t)got->protocol;
    p->is.wire.concurrency = got->concurrency;
    process_record(p, p->is.state);
    apl_supervise_forked(&s->shm, p->is.id, who, p->is.wire, s->now);
}

/* The reports come in this order, each once: the user decides who gets the
 * files. */
static void report(spawner_t *s, process_t *p, boot_report_t *got)
{
    got->text[sizeof got->text - 1] = 0;
    switch (got->kind) {
    case BOOT_USER:
        if (p->start.user[0] || p->start.command)
            break;
        p->is.uid = got->uid;
        p->is.gid = got->gid;
        apr_cpystrn(p->start.user, got->text, sizeof p->start.user);
        process_record(p, p->is.state);
        break;
    case BOOT_COMMAND:
        if (p->start.command)
            break;
        p->start.command = strdup(got->text);
        found(s, p, got);
        app_log(p, LOG_INFO, "starts as %s: %s", p->start.user, got->text);
        break;
    default:
        phase_fail(s, p,
                   got->step < START_STEP_BOOT ? (int)got->step
                                               : START_STEP_PREPARE,
                   "%s", got->text);
    }
}

void launch_read_reports(spawner_t *s, process_t *p)
{
    boot_report_t got;
    ssize_t n = -1;

    while (p->reports.fd >= 0 &&
           (n = read(p->reports.fd, &got, sizeof got)) == sizeof got)
        report(s, p, &got);
    if (n >= 0)
        loop_drop(&p->reports);
}

static void reports_ready(void *owner, uint32_t events)
{
    (void)events;
    launch_read_reports(state_spawner(), owner);
}

void launch_output(void *owner, uint32_t events)
{
    process_t *p = owner;

    (void)events;
    /* The child reports its user before it can print. So read the reports
     * first. */
    launch_read_reports(state_spawner(), p);
    /* No process has the FIFO open any more, so none can write to it again. */
    if (!output_read(p))
        loop_drop(&p->fifo);
}

/* ---- making one ---- */

static int choose_port(spawner_t *s, process_t *p)
{
    int i, port = -1;

    for (i = 0; i < 100; i++) {
        port = process_files_port();
        if (port < 0 || !process_of_port(s, (uint32_t)port))
            break;
    }
    if (port > 0)
        process_has_port(s, p, (uint32_t)port);
    return port > 0 ? 0 : -1;
}

/* Make sockets, FIFO and pipes. @return what could not be made, or NULL */
static const char *make_parts(spawner_t *s, process_t *p, parts_t *x)
{
    process_files_path_t path;
    int fd;

    if (p->is.wire.listen == APL_LISTEN_FD &&
        (x->listener = process_files_listen(&s->rt, p->is.id)) < 0)
        return "its listening socket";
    if (p->is.wire.listen == APL_LISTEN_TCP && choose_port(s, p) != 0)
        return "a port to listen on";
    fd = process_files_output(&s->rt, p->is.id);
    if (fd < 0 || loop_add(&p->fifo, fd, EPOLLIN, launch_output, p) != 0)
        return "the FIFO of its output";
    process_files_path(&s->rt, CONTRACT_OUTPUT, p->is.id, path);
    x->output = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (x->output < 0)
        return "the FIFO of its output";
    fd = process_files_notify(&s->rt, p->is.id);
    if (fd < 0 || loop_add(&p->notify, fd, EPOLLIN, sd_notify_read, p) != 0)
        return "its notify socket";
    if (pipe2(x->go, O_CLOEXEC) != 0 ||
        pipe2(x->report, O_CLOEXEC | O_NONBLOCK) != 0)
        return "a pipe";
    if (loop_add(&p->reports, x->report[0], EPOLLIN, reports_ready, p) != 0)
        return "a pipe";
    x->report[0] = -1;
    return NULL;
}

static pid_t fork_app(spawner_t *s, process_t *p, const app_entry_t *app,
                      parts_t *x)
{
    boot_t boot = {.app = app,
                   .rt = &s->rt,
                   .instance = s->instance,
                   .helpers = s->helpers,
                   .id = p->is.id,
                   .port = p->is.wire.port,
                   .descriptors = s->descriptors,
                   .listener = x->listener,
                   .output = x->output,
                   .go = x->go[0],
                   .report = x->report[1]};
    pid_t pid = fork();

    if (pid != 0)
        return pid;
    /* Only the spawner may hold the write end: its death must be seen as
     * EOF. */
    close(x->go[1]);
    boot_app(&boot);
}

/* The process gets into the registry, then into the segment, and then its
 * "go". */
static const char *let_go(spawner_t *s, process_t *p, const parts_t *x)
{
    apl_identity_t who = {p->is.pid, 0, 0};
    procfs_t found;

    if (procfs_read(p->is.pid, &found) != 0)
        return "found";
    who.start = p->is.start = found.start;
    if (process_record(p, REGISTRY_BOOTING) != 0)
        return "registered";
    apl_supervise_forked(&s->shm, p->is.id, who, p->is.wire, s->now);
    return write(x->go[1], "g", 1) == 1 ? NULL : "told to go";
}

static void launch(spawner_t *s, process_t *p, const app_entry_t *app)
{
    uint32_t unkillable = overdue_unkillable(s, app);
    parts_t x;
    const char *what;
    pid_t pid;

    if (unkillable > 0) {
        p->gone = 1;
        phase_fail(s, p, START_STEP_PREPARE,
                   "%u of its processes survive SIGKILL: more than "
                   "AppMaxUnkillable",
                   unkillable);
        return;
    }
    memset(&x, -1, sizeof x);
    what = make_parts(s, p, &x);
    if (what) {
        int why = errno;

        p->gone = 1;
        phase_fail(s, p, START_STEP_PREPARE, "%s could not be made: %s", what,
                   strerror(why));
        close_parts(&x);
        return;
    }
    output_keep(&p->output);
    pid = fork_app(s, p, app, &x);
    if (pid < 0) {
        int why = errno;

        p->gone = 1;
        phase_fail(s, p, START_STEP_PREPARE, "fork: %s", strerror(why));
        close_parts(&x);
        return;
    }
    process_forked(s, p, pid);
    what = let_go(s, p, &x);
    if (what)
        phase_fail(s, p, START_STEP_PREPARE, "the new process could not be %s",
                   what);
    /* This includes our copy of the listening socket: with it open, a
     * connection to a dead app would succeed. */
    close_parts(&x);
}

static void start(spawner_t *s, const apl_order_t *order)
{
    const app_entry_t *app = app_table_find(s->table, order->name);
    process_t *p;

    if (!app) {
        log_line(LOG_ERROR, "%s cannot be started: it is not configured",
                 order->name);
        apl_supervise_failed(&s->shm, order->id, 0, random_id(),
                             "the configuration knows no such app", s->now);
        return;
    }
    p = process_new(s, order->id, order->name);
    if (!p) {
        apl_supervise_failed(&s->shm, order->id, 0, random_id(),
                             "the spawner is out of memory", s->now);
        return;
    }
    apply_table_configure(s, p);
    p->slot.listed = 1;
    p->is.wire.listen = (uint16_t)app->listen;
    p->is.wire.protocol = (uint16_t)app->protocol;
    p->is.print = app->print;
    p->is.owner = app->owner;
    p->is.began = s->now;
    p->is.deadline = p->deadline = s->now + app->start_timeout;
    launch(s, p, app);
}

static int booting(const spawner_t *s)
{
    const process_t *p;
    int n = 0;

    for (p = s->processes; p; p = p->next)
        n += p->phase == PHASE_BOOTING && s->now - p->is.began < PATIENCE;
    return n;
}

void launch_orders(spawner_t *s)
{
    apl_order_t order;
    int n = booting(s);

    while (n++ < AT_ONCE &&
           apl_supervise_next_order(&s->shm, random_id(), s->now, &order) ==
               APR_SUCCESS) {
        start(s, &order);
        state_wake(s, s->now);
    }
}
