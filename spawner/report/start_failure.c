/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/report/reports.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm/slots/group.h"
#include "shm/verbs/reconcile.h"
#include "spawner/output/output.h"
#include "spawner/report/start_reason.h"
#include "spawner/process/process.h"

#define TAIL_LINES 20

/* httpd's error page reads these words. */
static const char *const steps[] = {"prepare", "user", "variables", "directory",
                                    "command", "boot", "ready",     "stay"};

/* @return the beginning of the line whose newline is there */
static size_t line_at(const char *tail, size_t newline)
{
    while (newline > 0 && tail[newline - 1] != '\n')
        newline--;
    return newline;
}

/* @return the beginning of the last lines that fit; n: none fits.
 * @param frames 1: include lines of a stack trace */
static size_t last_lines(const char *tail, size_t n, int lines, size_t room,
                         int frames)
{
    size_t end, begin, from = n, used = 0;

    for (end = n; end > 0 && lines > 0; end = begin) {
        begin = line_at(tail, end - 1);
        if (!frames && last_lines_is_frame(tail + begin))
            continue;
        used += end - begin + 2;
        if (used > room && from < n)
            break;
        from = begin;
        lines--;
    }
    return from;
}

/* Write as many of the last lines as fit, on one line. Frames of a stack trace
 * are left out unless there is nothing else: one frame says little without the
 * others. @param lines maximum */
static void last_output(const process_t *p, int lines, char *text, size_t size)
{
    static const char intro[] = "; last output: ";
    const char *tail = p->output.tail, *between = intro;
    size_t end, n = tail ? p->output.tail_length : 0, used = 0;
    size_t i = last_lines(tail, n, lines, size - sizeof intro, 0);
    int frames = i == n;

    if (frames)
        i = last_lines(tail, n, lines, size - sizeof intro, 1);
    text[0] = 0;
    for (; i < n && used + 1 < size; i = end + 1) {
        end = i + strcspn(tail + i, "\n");
        if (!frames && last_lines_is_frame(tail + i))
            continue;
        used += (size_t)snprintf(text + used, size - used, "%s%.*s", between,
                                 (int)(end - i), tail + i);
        between = " | ";
    }
}

/* ---- the sentence ---- */

static int find_reason(const process_t *p, char reason[START_REASON_MAX])
{
    const siginfo_t *end = &p->end.cause;
    int no_command = end->si_code == CLD_EXITED &&
                     (end->si_status == 126 || end->si_status == 127);

    *reason = 0;
    return p->output.tail &&
           start_reason_find(p->output.tail, p->output.tail_length, no_command,
                             reason);
}

void start_failure_read(process_t *p)
{
    char reason[START_REASON_MAX], owner[128] = "",
                                   text[sizeof reason + sizeof owner];
    unsigned port;

    if (!find_reason(p, reason))
        return;
    port = start_reason_port(reason);
    if (port)
        port_owner_say(port, p->is.uid, owner, sizeof owner);
    snprintf(text, sizeof text, "%s%s%s%s", reason, *owner ? " (" : "", owner,
             *owner ? ")" : "");
    free(p->start.reason);
    p->start.reason = strdup(text);
}

/* @return what start_failure_read() has found, or what can be found now; "" */
static const char *reason_of(const process_t *p, char reason[START_REASON_MAX])
{
    if (!p->start.reason)
        find_reason(p, reason);
    return p->start.reason ? p->start.reason : reason;
}

/* What failed, and why: the reason, or the last line of output. */
static void say(const process_t *p, const char *what,
                char text[START_FAILURE_MAX])
{
    char found[START_REASON_MAX], tail[START_FAILURE_MAX] = "", *all = NULL;
    const char *reason = reason_of(p, found);

    if (!*reason)
        last_output(p, 1, tail, sizeof tail);
    if (asprintf(&all, "%s%s%s", what, *reason ? ": " : "",
                 *reason ? reason : tail) < 0)
        all = NULL;
    start_reason_fit(text, START_FAILURE_MAX, all ? all : what);
    free(all);
}

void start_failure_log(const spawner_t *s, const process_t *p)
{
    const app_entry_t *a = app_table_find(s->table, p->is.name);
    char found[START_REASON_MAX], tail[1024];
    const char *reason = reason_of(p, found);

    last_output(p, TAIL_LINES, tail, sizeof tail);
    app_log(p, LOG_ERROR,
            "could not be started: %s%s%s (error id " CONTRACT_ID_FMT
            "%s%s%s%s%s%s)%s",
            p->start.failure, *reason ? ": " : "", reason, p->start.error_id,
            p->start.command ? "; command: " : "",
            p->start.command ? p->start.command : "",
            p->start.user[0] ? "; user: " : "", p->start.user,
            a ? "; directory: " : "", a ? a->app.root : "", tail);
}

void start_failure_describe(const process_t *p, const char *what, char *text,
                            size_t size)
{
    char all[START_FAILURE_MAX];

    say(p, what, all);
    start_reason_fit(text, size, all);
}

void start_failure_brief(const process_t *p, char *text, size_t size)
{
    start_failure_describe(p, p->start.failure, text, size);
}

/* ---- the file ---- */

static void name_of(char name[32], const process_t *p, const char *end)
{
    snprintf(name, 32, CONTRACT_FAILURES "/" CONTRACT_ID_FMT "%s",
             apl_group_key(p->is.name), end);
}

/* A value has one line. */
static void put(FILE *file, const char *name, const char *value)
{
    if (!value || !*value)
        return;
    fprintf(file, "%s ", name);
    for (; *value; value++)
        putc(*value == '\n' ? ' ' : *value, file);
    putc('\n', file);
}

static void put_all(FILE *file, const spawner_t *s, const process_t *p,
                    int step, uint64_t id, const char *text)
{
    const app_entry_t *a = app_table_find(s->table, p->is.name);
    char found[START_REASON_MAX], all[START_FAILURE_MAX];
    size_t i;

    say(p, text, all);
    fprintf(file, "id " CONTRACT_ID_FMT "\n", id);
    put(file, "step", steps[step]);
    put(file, "failure", text);
    put(file, "reason", reason_of(p, found));
    put(file, CONTRACT_FAILURE_SENTENCE, all);
    put(file, "command", p->start.command);
    put(file, "directory", a ? a->app.root : NULL);
    put(file, "user", p->start.user);
    fputs("output\n", file);
    for (i = 0; p->output.tail && i < p->output.tail_length; i++)
        putc(p->output.tail[i] ? p->output.tail[i] : ' ', file);
}

static void alert_all(spawner_t *s, const process_t *p, uint64_t id,
                      const char *text)
{
    apl_condition_t is;
    char all[START_FAILURE_MAX];

    say(p, text, all);
    alert_raise(s, p, ALERT_START_FAILED, "%s (error id " CONTRACT_ID_FMT ")",
                all, id);
    if (!alert_open(s, p))
        return;
    alert_raise(s, p, ALERT_BACKOFF_OPENED,
                "starts fail, and the time between two tries grows up to %d s: "
                "%s",
                APL_BACKOFF_MAX, all);
    if (apl_reconcile_condition(&s->shm, p->is.id, &is) == APR_SUCCESS &&
        is.replaces)
        alert_raise(s, p, ALERT_BROKEN_DEPLOY,
                    "a new process does not start, and the old ones continue "
                    "to serve: %s",
                    all);
}

/* @param end "", or CONTRACT_SLOW_START */
static void write_file(const spawner_t *s, const process_t *p, const char *end,
                       int step, uint64_t id, const char *text)
{
    char name[32], temp[32];
    int fd, good;
    FILE *file;

    name_of(name, p, end);
    name_of(temp, p, ".new");
    unlinkat(s->rt.fd, temp, 0);
    fd = openat(s->rt.fd, temp,
                O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0400);
    if (fd < 0)
        return;
    good = geteuid() != 0 ||
           (fchown(fd, 0, s->rt.gid) == 0 && fchmod(fd, 0440) == 0);
    file = fdopen(fd, "w");
    if (!file) {
        close(fd);
        return;
    }
    put_all(file, s, p, step, id, text);
    good &= !ferror(file);
    good &= fclose(file) == 0;
    if (!good || renameat(s->rt.fd, temp, s->rt.fd, name) != 0) {
        /* An older file would describe another error. */
        unlinkat(s->rt.fd, temp, 0);
        unlinkat(s->rt.fd, name, 0);
    }
}

void start_failure_keep(spawner_t *s, const process_t *p, int step, uint64_t id,
                        const char *text)
{
    if (!app_table_find(s->table, p->is.name))
        return; /* the app is not configured any more */
    alert_all(s, p, id, text);
    write_file(s, p, "", step, id, text);
}

void start_failure_keep_slow(const spawner_t *s, const process_t *p,
                             const char *missing)
{
    write_file(s, p, CONTRACT_SLOW_START, START_STEP_READY, p->is.id, missing);
}

void start_failure_forget_slow(const spawner_t *s, const process_t *p)
{
    char name[32];

    name_of(name, p, CONTRACT_SLOW_START);
    unlinkat(s->rt.fd, name, 0);
}

void start_failure_forget(spawner_t *s, const process_t *p)
{
    char name[32];

    if (!alert_close(s, p))
        return;
    name_of(name, p, "");
    unlinkat(s->rt.fd, name, 0);
}

void start_failure_recall(const spawner_t *s)
{
    char name[32];
    uint32_t i;

    for (i = 0; i < s->table->n; i++) {
        snprintf(name, sizeof name, CONTRACT_FAILURES "/" CONTRACT_ID_FMT,
                 s->table->apps[i].app.key);
        if (faccessat(s->rt.fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
            alert_recall(s->table->apps[i].app.name);
    }
}

static int is_known(const spawner_t *s, const char *name)
{
    char own[32];
    uint32_t i;

    for (i = 0; i < s->table->n; i++) {
        size_t n = (size_t)snprintf(own, sizeof own, CONTRACT_ID_FMT,
                                    s->table->apps[i].app.key);

        if (strncmp(own, name, n) == 0 &&
            (!name[n] || strcmp(name + n, CONTRACT_SLOW_START) == 0))
            return 1;
    }
    return 0;
}

void start_failure_sweep(const spawner_t *s)
{
    int fd = openat(s->rt.fd, CONTRACT_FAILURES,
                    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *entry;

    while (dir && (entry = readdir(dir)) != NULL)
        if (entry->d_name[0] != '.' && !is_known(s, entry->d_name))
            unlinkat(fd, entry->d_name, 0);
    if (dir)
        closedir(dir);
    else if (fd >= 0)
        close(fd);
}
