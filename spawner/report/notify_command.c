/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/report/reports.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "system/reap.h"
#include "system/cgroup.h"
#include "spawner/process/environment.h"
#include "system/child_reset.h"
#include "system/random.h"
#include "base/privilege.h"
#include "spawner/output/output.h"
#include "system/daemonize.h"
#include "spawner/process/leftovers.h"
#include "spawner/process/approot_owner.h"

#define LIMIT (30 * SECOND)
#define LINES 10 /* of its output that are logged */

/* ---- in the child ---- */

static _Noreturn void refuse(const char *why)
{
    dprintf(STDERR_FILENO, "%s\n", why);
    _exit(126);
}

static _Noreturn void work(const spawner_t *s, const app_entry_t *a,
                           uint64_t id, int input, int output)
{
    char error[PRIVILEGE_ERROR_MAX];
    const char *refused;
    privilege_t account;

    if (dup2(input, 0) < 0 || dup2(output, 1) < 0 || dup2(output, 2) < 0)
        _exit(126);
    if (cgroup_enter(id) != 0)
        refuse("it cannot have a cgroup of its own");
    if (child_reset_descriptors(-1) != 0)
        refuse("the spawner's descriptors cannot be closed");
    if (privilege_find(&account, a->user, a->group, approot_owner_user(a),
                       a->app.root, error) != 0 ||
        privilege_groups(&account, error) != 0)
        refuse(error);
    /* Modules of the user database may have opened some. */
    if (child_reset_descriptors(-1) != 0)
        refuse("descriptors cannot be closed");
    daemonize_oom_score("0");
    umask(022);
    refused = environment_limit(a, &s->descriptors);
    if (refused) {
        snprintf(error, sizeof error, "%s cannot be set: %s", refused,
                 strerror(errno));
        refuse(error);
    }
    if (privilege_drop(&account, 0, error) != 0)
        refuse(error);
    if (chdir("/") != 0)
        refuse(strerror(errno));
    execle("/bin/sh", "sh", "-c", a->notify, NULL,
           environment_of_user(s->instance, id, &account));
    refuse("/bin/sh cannot be executed");
}

/* ---- its output ---- */

/* Read one piece, so that other sources have their turn before the next one.
 * Bytes that do not fit are read and forgotten: the command must not wait or
 * die because it prints much. */
static void read_output(notify_command_t *c)
{
    char chunk[4096];
    ssize_t n = c->output.fd < 0 ? -1 : read(c->output.fd, chunk, sizeof chunk);
    size_t room = sizeof c->printed - c->length;
    size_t kept = n > 0 && (size_t)n < room ? (size_t)n : room;

    if (n == 0)
        loop_drop(&c->output);
    if (n <= 0)
        return;
    memcpy(c->printed + c->length, chunk, kept);
    c->length += kept;
}

static void output_ready(void *owner, uint32_t events)
{
    (void)events;
    read_output(owner);
}

static void log_printed(const notify_command_t *c, const app_entry_t *a)
{
    const char *line = c->printed, *end = c->printed + c->length, *stop;
    int n;

    for (n = 0; n < LINES && line < end; n++, line = stop + 1) {
        stop = memchr(line, '\n', (size_t)(end - line));
        if (!stop)
            stop = end;
        app_log_about(a, LOG_NOTICE, "%s: AppNotify printed: %.*s", c->label,
                      (int)(stop - line), line);
    }
}

static void ended(spawner_t *s, job_t *job, const siginfo_t *cause)
{
    notify_command_t *c = (notify_command_t *)job;
    const app_entry_t *a = app_table_find(s->table, c->app);
    char text[REAP_CAUSE_MAX];

    leftovers_check_cgroups(s, 0);
    read_output(c);
    loop_drop(&c->output);
    log_printed(c, a);
    if (!cause)
        app_log_about(a, LOG_ERROR,
                      "%s: AppNotify took more than %d s and was killed: %s",
                      c->label, (int)(LIMIT / SECOND), c->command);
    else if (cause->si_code != CLD_EXITED || cause->si_status != 0)
        app_log_about(a, LOG_ERROR, "%s: AppNotify failed with %s: %s",
                      c->label, reap_cause(cause, text), c->command);
}

/* ---- beginning ---- */

/* Make a pipe that contains the text and has no writer. @return its read end,
 * or -1 with errno */
static int make_input(const char *text, size_t length)
{
    int ends[2];
    ssize_t n;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    n = write(ends[1], text, length);
    close(ends[1]);
    if (n == (ssize_t)length)
        return ends[0];
    close(ends[0]);
    if (n >= 0)
        errno = ENOSPC; /* the user has many pipes, so this one is smaller */
    return -1;
}

static int run(spawner_t *s, notify_command_t *c, const app_entry_t *a,
               int input)
{
    uint64_t id = random_id();
    int ends[2], kept;
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    pid = job_fork(s, &c->job, LIMIT, ended);
    if (pid == 0)
        work(s, a, id, input, ends[1]);
    kept = errno;
    c->job.id = id;
    close(ends[1]);
    if (pid > 0)
        loop_add(&c->output, ends[0], EPOLLIN, output_ready, c);
    else
        close(ends[0]);
    errno = kept;
    return pid > 0 ? 0 : -1;
}

int notify_command_begin(spawner_t *s, notify_command_t *c,
                         const app_entry_t *app, const char *text,
                         size_t length)
{
    int input = make_input(text, length), rv;

    if (input < 0)
        return -1;
    c->length = 0;
    c->output.fd = -1;
    snprintf(c->app, sizeof c->app, "%s", app->app.name);
    snprintf(c->label, sizeof c->label, "%s", app->label);
    snprintf(c->command, sizeof c->command, "%s", app->notify);
    rv = run(s, c, app, input);
    close(input);
    return rv;
}

int notify_command_is_busy(const notify_command_t *c)
{
    return c->job.pid != 0;
}
