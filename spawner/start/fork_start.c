/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spawner/process/state.h"
#include "system/cgroup.h"
#include "system/procfs.h"
#include "spawner/process/fork_order.h"
#include "spawner/end/end.h"
#include "spawner/start/start.h"
#include "spawner/template/template.h"
#include "spawner/output/output.h"
#include "spawner/process/job.h"
#include "spawner/process/process.h"

#define PATIENCE (5 * SECOND) /* from the order to the hello */
#define CLEARING (SECOND / 50)
#define PARTS    4 /* descriptors that go with an order */

static void execute(spawner_t *s, process_t *p)
{
    p->forking.state = FORKING_EXECUTE;
    state_wake(s, s->now);
}

/* ---- the order ---- */

/* Only root can give these files to the user of the app. */
static int hand_over(const spawner_t *s, const process_t *p, const process_t *t,
                     const start_parts_t *x)
{
    process_files_path_t path;

    process_files_path(&s->rt, CONTRACT_NOTIFY, p->is.id, path);
    return process_files_give(path, t->is.uid, t->is.gid) == 0 &&
           (t->is.uid == UINT32_MAX ||
            fchown(x->output, t->is.uid, t->is.gid) == 0);
}

static size_t write_order(const spawner_t *s, const process_t *p,
                          char text[FORK_ORDER_MAX])
{
    char mark[64], notify[CONTRACT_SOCKET_PATH_MAX + 16];
    const char *const variables[] = {mark, notify, "LISTEN_FDS=1",
                                     "LISTEN_FDNAMES=apppool", NULL};
    process_files_path_t path;

    snprintf(mark, sizeof mark, CONTRACT_MARK "=%s-" CONTRACT_ID_FMT,
             s->instance, p->is.id);
    process_files_path(&s->rt, CONTRACT_NOTIFY, p->is.id, path);
    snprintf(notify, sizeof notify, "NOTIFY_SOCKET=%s", path);
    return fork_order_write(variables, text);
}

static int send_order(const process_t *t, const start_parts_t *x, char *text,
                      size_t n)
{
    const int fds[PARTS] = {x->listener, x->output, x->go[0], x->report[1]};
    union {
        char bytes[CMSG_SPACE(sizeof fds)];
        struct cmsghdr align;
    } control;
    struct iovec piece = {text, n};
    struct msghdr message = {.msg_iov = &piece,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    struct cmsghdr *c;

    memset(&control, 0, sizeof control);
    c = CMSG_FIRSTHDR(&message);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof fds);
    memcpy(CMSG_DATA(c), fds, sizeof fds);
    return sendmsg(t->template.orders, &message, MSG_DONTWAIT | MSG_NOSIGNAL) ==
                   (ssize_t)n
               ? 0
               : -1;
}

static void on_hello(void *owner, uint32_t events);

/* @return 0; -1: it could not be sent, and the template may be blamed for
 * EAGAIN */
static int try_order(const spawner_t *s, process_t *p, const process_t *t,
                     start_parts_t *x)
{
    char text[FORK_ORDER_MAX];
    size_t n = write_order(s, p, text);

    errno = 0;
    if (n == 0 || !hand_over(s, p, t, x))
        return -1;
    p->forking.ordered = procfs_now();
    return send_order(t, x, text, n);
}

void fork_start_order(spawner_t *s, process_t *p, process_t *t)
{
    start_parts_t x;
    /* While the state is not FORKING_NOT, the pipe carries a hello and no
     * report. */
    int good = !start_parts_make(s, p, &x, on_hello);
    int sent = good && try_order(s, p, t, &x) == 0;
    int full = good && !sent && (errno == EAGAIN || errno == ENOBUFS);

    if (sent) {
        p->forking.state = FORKING_ORDERED;
        p->forking.template_id = t->is.id;
        p->forking.ordered_at = p->is.began = s->now;
        p->forking.go = x.go[1];
        x.go[1] = -1;
        last_lines_keep(&p->output);
        state_wake(s, s->now + PATIENCE);
    }
    else
        execute(s, p);
    start_parts_close(&x);
    if (full)
        template_has_missed(s, t);
}

/* ---- the hello ---- */

/* What does the kernel say about the process? @return -1: it is dead */
static int read_facts(const spawner_t *s, const process_t *t, pid_t pid,
                      fork_facts_t *is)
{
    char status[2048];
    procfs_t info;

    if (procfs_read(pid, &info) != 0 || info.state == 'Z' ||
        info.state == 'X' ||
        procfs_text(pid, "status", status, sizeof status) <= 0 ||
        fork_order_uids(status, is->uids) != 0)
        return -1;
    is->pid = pid;
    is->parent = info.ppid;
    is->session = info.session;
    is->start = info.start;
    /* A command of AppNotify runs as the user of the app, too. */
    is->recorded = process_of_child(s, pid) != NULL || job_has_child(pid);
    is->in_cgroup = cgroup_descriptor() < 0 || cgroup_has(t->is.id, pid);
    return 0;
}

/* The process is what it has to be, and it is our child. From here on `p`
 * describes it.
 * @return 0; -1: it died, or could not be recorded */
static int take_over(spawner_t *s, process_t *p, const process_t *t,
                     const fork_facts_t *is)
{
    apl_start_t start;
    procfs_t now;

    if (cgroup_move(p->is.id, is->pid) != 0 ||
        procfs_read(is->pid, &now) != 0 || now.state == 'Z')
        return -1;
    process_forked(s, p, is->pid);
    p->is.start = is->start;
    p->is.template_id = t->is.id;
    process_started_as(p, t);
    if (process_record(p, REGISTRY_BOOTING) != 0)
        return -1;
    start = process_start(p);
    apl_supervise_forked(&s->shm, p->is.id, &start, s->now);
    return write(p->forking.go, "g", 1) == 1 ? 0 : -1;
}

/* It is our child and was not reaped, so the signal reaches no other
 * process. */
static void give_up(spawner_t *s, process_t *p, const fork_facts_t *is)
{
    cgroup_kill(p->is.id);
    kill(is->pid, SIGKILL);
    p->forking.killed = is->pid;
    p->forking.killed_start = is->start;
    if (p->is.pid == 0)
        return;
    process_forget_child(s, p);
    p->is.start = 0;
    p->is.template_id = 0;
    /* Its command will report these. */
    p->is.uid = p->is.gid = UINT32_MAX;
    p->is.wire.concurrency = APL_CONCURRENCY_AUTO;
    p->is.stamp = APL_STAMP_UNKNOWN;
    p->start.user[0] = 0;
    free(p->start.command);
    p->start.command = NULL;
    registry_clear(p->record);
    registry_keep(p->record);
}

static void go(spawner_t *s, process_t *p, process_t *t, const fork_facts_t *is)
{
    const app_entry_t *a = app_table_find(s->table, p->is.name);

    if (take_over(s, p, t, is) != 0) {
        give_up(s, p, is);
        execute(s, p);
        return;
    }
    p->forking.state = FORKING_NOT;
    loop_drop(&p->reports);
    process_end_forking(p);
    p->is.deadline = p->deadline =
        s->now + (a ? a->start_timeout : p->app.stop_timeout);
    process_record(p, REGISTRY_BOOTING);
    app_log(p, LOG_INFO, "is forked from template[%d] after %d ms",
            (int)t->is.pid, (int)((s->now - p->forking.ordered_at) / 1000));
    template_has_forked(s, t);
    state_wake(s, s->now);
}

static void receive(spawner_t *s, process_t *p, process_t *t, const char *bytes,
                    size_t n)
{
    const fork_expected_t expected = {getpid(), t->is.uid, p->forking.ordered};
    pid_t pid = fork_order_hello(bytes, n);
    fork_facts_t is;
    const char *wrong;

    if (pid == 0) {
        execute(s, p);
        template_has_lied(s, t, 0, "its hello is no pid");
        return;
    }
    if (read_facts(s, t, pid, &is) != 0) {
        execute(s, p);
        template_has_missed(s, t);
        return;
    }
    wrong = fork_order_wrong(&is, &expected);
    if (wrong) {
        execute(s, p);
        template_has_lied(s, t, pid, wrong);
    }
    else
        go(s, p, t, &is);
}

static void on_hello(void *owner, uint32_t events)
{
    spawner_t *s = state_spawner();
    process_t *p = owner, *t = template_find(s, p->forking.template_id);
    char bytes[FORK_HELLO_MAX];
    ssize_t n;

    (void)events;
    if (p->forking.state != FORKING_ORDERED || p->gone) {
        loop_drop(&p->reports);
        return;
    }
    n = read(p->reports.fd, bytes, sizeof bytes);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n > 0 && t) {
        receive(s, p, t, bytes, (size_t)n);
        return;
    }
    execute(s, p); /* the descriptors were closed without a hello */
    if (t)
        template_has_missed(s, t);
}

/* ---- when there is no hello ---- */

void fork_start_check(spawner_t *s, process_t *p)
{
    process_t *t = template_find(s, p->forking.template_id);

    if (t && s->now < p->forking.ordered_at + PATIENCE) {
        state_wake(s, p->forking.ordered_at + PATIENCE);
        return;
    }
    execute(s, p);
    if (t)
        template_has_missed(s, t);
}

/* Is the child that was killed not dead yet? Another child may have its pid by
 * now. */
static int is_alive(const process_forking_t *f)
{
    siginfo_t info = {.si_pid = 0};
    procfs_t who;

    return f->killed > 1 &&
           waitid(P_PID, (id_t)f->killed, &info, WEXITED | WNOHANG | WNOWAIT) ==
               0 &&
           info.si_pid == 0 && procfs_read(f->killed, &who) == 0 &&
           who.start == f->killed_start;
}

/* From here on life.c handles what is left: the forked process, or what that
 * has started. */
static void fail(spawner_t *s, process_t *p)
{
    if (is_alive(&p->forking)) {
        process_forked(s, p, p->forking.killed);
        p->is.start = p->forking.killed_start;
    }
    else
        p->gone = 1;
    p->forking.state = FORKING_NOT;
    phase_fail(s, p, START_STEP_PREPARE,
               "a process that its template has forked survives SIGKILL");
}

int fork_start_clear(spawner_t *s, process_t *p)
{
    start_parts_drop(p);
    p->is.says_ready = p->is.stops_itself = 0;
    if (cgroup_remove(p->is.id) == 0)
        return 0;
    if (p->forking.clear_by == 0)
        p->forking.clear_by = s->now + SECOND;
    if (s->now >= p->forking.clear_by) {
        fail(s, p);
        return -1;
    }
    cgroup_kill(p->is.id);
    state_wake(s, s->now + CLEARING);
    return -1;
}
