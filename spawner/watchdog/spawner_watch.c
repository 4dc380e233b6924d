/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/watchdog/spawner_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spawner/common/exit_cause.h"
#include "spawner/shared/contract.h"
#include "spawner/shared/stderr_file.h"
#include "spawner/common/log.h"
#include "spawner/shared/pidfd.h"
#include "spawner/common/procfs.h"

#define CHECK_PAUSE 3000 /* ms from one check of its heartbeat to the next */
#define CHECKS      10   /* without a new heartbeat: it hangs */
#define STOP_PAUSE  1000 /* both for a spawner that is to stop */
#define STOP_CHECKS 4
#define PAYS        2000 /* ms of life that pay for one death */
#define FREE        5    /* deaths in a row before a start has to wait */
#define LONGEST     10   /* s */
#define UNKILLABLE_PAUSE                                                       \
    60000 /* ms: each unkillable spawner makes the wait longer by that */
#define FORGIVE_AFTER 600000 /* ms of life after which they do not count */

/* A spawner runs: watch it. */
static void begin(spawner_watch_t *w, pid_t pid, int pidfd, int child,
                  int64_t now)
{
    w->pid = pid;
    w->pidfd = pidfd;
    w->child = child;
    w->born = now;
    w->is_stopping = 0;
    w->check_at = now + CHECK_PAUSE;
    memset(&w->beat, 0, sizeof w->beat);
}

int spawner_watch_join(spawner_watch_t *w, int64_t now)
{
    char text[64];
    unsigned long long begun;
    long pid;
    ssize_t n;
    int fd =
        openat(w->dirfd, CONTRACT_SPAWNER, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0)
        return 0;
    n = read(fd, text, sizeof text - 1);
    close(fd);
    text[n > 0 ? n : 0] = 0;
    if (sscanf(text, "%ld %llu", &pid, &begun) != 2)
        return 0;
    fd = procfs_pidfd((pid_t)pid, begun);
    if (fd < 0)
        return 0;
    if (procfs_is_killed((pid_t)pid)) {
        close(fd);
        return 0;
    }
    begin(w, (pid_t)pid, fd, 0, now);
    log_line(LOG_NOTICE, "watchdog joins the running spawner %ld", pid);
    return 1;
}

static _Noreturn void become(spawner_watch_t *w, int stop)
{
    char *argv[] = {w->name, (char *)(uintptr_t)w->runtime,
                    stop ? (char *)(uintptr_t)CONTRACT_STOP : NULL, NULL};
    int words = stderr_file_open(w->dirfd, CONTRACT_SPAWNER_STDERR);
    char path[32];
    sigset_t mask;

    if (words >= 0)
        dup2(words, STDERR_FILENO);
    /* SIGTERM is blocked until the spawner reads it. */
    sigemptyset(&mask);
    sigaddset(&mask, SIGTERM);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    /* Execute it by descriptor. This path works for a script as well. */
    snprintf(path, sizeof path, "/proc/self/fd/%d", CONTRACT_PROGRAM_FD);
    execv(path, argv);
    log_line(LOG_ERROR, "%s cannot be executed: %s", w->name, strerror(errno));
    _exit(w->served ? 1 : CONTRACT_EXIT_CONFIG);
}

int spawner_watch_start(spawner_watch_t *w, int64_t now, int stop)
{
    pid_t pid = fork();

    if (pid == 0)
        become(w, stop);
    if (pid < 0) {
        log_line(LOG_ERROR, "apppool-spawner cannot be started: fork: %s",
                 strerror(errno));
        return -1;
    }
    begin(w, pid, pidfd_open(pid, 0), 1, now);
    w->is_stopping = stop;
    return 0;
}

int spawner_watch_has_ended(const spawner_watch_t *w)
{
    struct pollfd end = {w->pidfd, POLLIN, 0};
    siginfo_t info;

    if (w->pid == 0)
        return 0;
    if (w->pidfd >= 0)
        return poll(&end, 1, 0) == 1;
    memset(&info, 0, sizeof info);
    waitid(P_PID, (id_t)w->pid, &info, WEXITED | WNOHANG | WNOWAIT);
    return info.si_pid != 0;
}

/* Without a pidfd it is our child. Its pid is not used again before we reap
 * it. */
static void send_signal(const spawner_watch_t *w, int sign)
{
    if (w->pidfd >= 0)
        pidfd_send_signal(w->pidfd, sign, NULL, 0);
    else if (w->pid > 0)
        kill(w->pid, sign);
}

void spawner_watch_stop(spawner_watch_t *w, int64_t now)
{
    /* A stopped program handles no other signal before SIGCONT. SIGCONT goes
     * first: a program that ends may be built with LeakSanitizer, which stops
     * its own threads at the exit, and a later SIGCONT would continue them. */
    send_signal(w, SIGCONT);
    send_signal(w, SIGTERM);
    w->is_stopping = 1;
    w->beat.silent = 0;
    w->check_at = now + STOP_PAUSE;
}

int spawner_watch_check(spawner_watch_t *w, int64_t now)
{
    int pause = w->is_stopping ? STOP_PAUSE : CHECK_PAUSE,
        limit = w->is_stopping ? STOP_CHECKS : CHECKS;
    int silent;

    if (w->pid == 0 || now < w->check_at)
        return 0;
    w->check_at = now + pause;
    silent = heartbeat_check(&w->beat, w->dirfd, CONTRACT_SPAWNER_HEARTBEAT);
    if (w->beat.inode == 0)
        return 0;
    if (silent != limit)
        return silent > limit;
    /* The signal goes first: the spawner may wait for the log, and then so may
     * we. */
    send_signal(w, SIGKILL);
    log_line(LOG_ERROR, "spawner %d has had no heartbeat for %d s: SIGKILL",
             (int)w->pid, limit * pause / 1000);
    return 0;
}

static void drop_pidfd(spawner_watch_t *w)
{
    if (w->pidfd >= 0)
        close(w->pidfd);
    w->pidfd = -1;
}

int64_t spawner_watch_abandon(spawner_watch_t *w, int64_t now)
{
    log_line(LOG_ERROR,
             "spawner %d survives SIGKILL: it waits for a disk, or another "
             "part of the kernel, and never runs again",
             (int)w->pid);
    drop_pidfd(w);
    w->pid = 0;
    if (now - w->born > FORGIVE_AFTER)
        w->unkillable = 0;
    return (int64_t)w->unkillable++ * UNKILLABLE_PAUSE;
}

int spawner_watch_log_end(spawner_watch_t *w, int asked)
{
    char cause[EXIT_CAUSE_MAX], words[STDERR_FILE_MAX];
    siginfo_t info;
    int code;

    memset(&info, 0, sizeof info);
    /* If a debugger still has it, its exit status is not known. */
    if (w->child)
        waitid(P_PID, (id_t)w->pid, &info, WEXITED | WNOHANG);
    drop_pidfd(w);
    code = info.si_pid != 0 && info.si_code == CLD_EXITED ? info.si_status : -1;
    if (!asked || code != CONTRACT_EXIT_DONE)
        log_line(asked && !w->child ? LOG_NOTICE : LOG_ERROR,
                 "spawner %d ended: %s%s", (int)w->pid,
                 exit_cause_text(&info, cause),
                 stderr_file_read(w->dirfd, CONTRACT_SPAWNER_STDERR, words));
    w->pid = 0;
    w->served |= code != CONTRACT_EXIT_CONFIG;
    return code;
}

/* A spawner that dies again and again must not take the processor from httpd,
 * nor fill the log. Each death is a debt of one, and a life pays some of it
 * back. @return s */
static int add_death(spawner_watch_t *w, int64_t lived)
{
    int64_t paid = lived / PAYS;

    w->debt = paid >= w->debt ? 0 : w->debt - (int)paid;
    if (w->debt < FREE + LONGEST)
        w->debt++;
    return w->debt > FREE ? w->debt - FREE : 0;
}

int64_t spawner_watch_pause(spawner_watch_t *w, int64_t now)
{
    int s = add_death(w, now - w->born);

    if (s > w->last_pause)
        log_line(LOG_ERROR, "spawner dies again and again: next start in %d s",
                 s);
    w->last_pause = s;
    return (int64_t)s * 1000;
}
