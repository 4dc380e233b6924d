/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "watchdog/ward.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "system/daemonize.h"
#include "system/reap.h"
#include "base/contract.h"
#include "base/stderr_file.h"
#include "system/log.h"
#include "base/pidfd.h"
#include "system/procfs.h"

#define CHECK_PAUSE 3000 /* ms from one check of its heartbeat to the next */
#define CHECKS      10   /* without a new heartbeat: it hangs */
#define STOP_PAUSE  1000 /* both for a program that is to stop */
#define STOP_CHECKS 4
#define PAYS        2000 /* ms of life that pay for one death */
#define FREE        5    /* deaths in a row before a start has to wait */
#define LONGEST     10   /* s */
#define UNKILLABLE_PAUSE                                                       \
    60000 /* ms: each unkillable program makes the wait longer by that */
#define FORGIVE_AFTER 600000 /* ms of life after which they do not count */

const ward_kind_t ward_spawner = {
    .name = "spawner",
    .program = CONTRACT_SPAWNER_PROGRAM,
    .program_fd = CONTRACT_PROGRAM_FD,
    .withheld = CONTRACT_STORE_FDS,
    .pid_file = CONTRACT_SPAWNER,
    .words = CONTRACT_SPAWNER_STDERR,
    .heartbeat = CONTRACT_SPAWNER_HEARTBEAT,
};

/* To kill the store frees no memory, because the memory outlives it. */
const ward_kind_t ward_store = {
    .name = "store",
    .program = CONTRACT_STORE_PROGRAM,
    .program_fd = CONTRACT_STORE_PROGRAM_FD,
    .withheld = CONTRACT_SPAWNER_FDS,
    .pid_file = CONTRACT_STORE,
    .has_signer = 1,
    .words = CONTRACT_STORE_STDERR,
    .heartbeat = CONTRACT_STORE_HEARTBEAT,
    .oom_score = "-900",
    .stop_checks = CONTRACT_STORE_STOP,
};

void ward_begin(ward_t *w, const ward_kind_t *kind, const char *runtime,
                int dirfd, const char *own_name)
{
    const char *slash = strrchr(own_name, '/');

    memset(w, 0, sizeof *w);
    w->kind = kind;
    w->stop_checks = kind->stop_checks;
    w->runtime = runtime;
    w->dirfd = dirfd;
    w->pidfd = -1;
    /* The program is executed by descriptor. This is the name that ps shows. */
    snprintf(w->name, sizeof w->name, "%.*s%s",
             slash ? (int)(slash + 1 - own_name) : 0, own_name, kind->program);
}

/* One runs: watch it. */
static void begin(ward_t *w, pid_t pid, int pidfd, int child, int64_t now)
{
    w->pid = pid;
    w->pidfd = pidfd;
    w->child = child;
    w->born = now;
    w->is_stopping = 0;
    w->check_at = now + CHECK_PAUSE;
    memset(&w->beat, 0, sizeof w->beat);
}

int ward_join(ward_t *w, int64_t now)
{
    pid_t pid;
    int fd = procfs_pidfd_of(w->dirfd, w->kind->pid_file, &pid);

    if (fd < 0)
        return 0;
    if (procfs_is_killed(pid)) {
        close(fd);
        return 0;
    }
    begin(w, pid, fd, 0, now);
    log_line(LOG_NOTICE, "watchdog joins the running %s %d", w->kind->name,
             (int)pid);
    return 1;
}

/* The next watchdog finds the program by this file. */
static void sign(const ward_t *w)
{
    char text[64];
    procfs_t self;
    int fd, n;

    unlinkat(w->dirfd, w->kind->pid_file, 0);
    fd = openat(w->dirfd, w->kind->pid_file,
                O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0 || procfs_read(getpid(), &self) != 0)
        _exit(1);
    n = snprintf(text, sizeof text, "%d %llu\n", (int)getpid(),
                 (unsigned long long)self.start);
    if (write(fd, text, (size_t)n) != n)
        _exit(1);
    close(fd);
}

static void withhold(unsigned descriptors)
{
    int fd;

    for (fd = CONTRACT_LIFE_FD; fd <= CONTRACT_LAST_FD; fd++)
        if (descriptors >> fd & 1)
            close(fd);
}

static _Noreturn void become(ward_t *w, int stop)
{
    char *argv[] = {w->name, (char *)(uintptr_t)w->runtime,
                    stop ? (char *)(uintptr_t)CONTRACT_STOP : NULL, NULL};
    int words = stderr_file_open(w->dirfd, w->kind->words);
    char path[32];
    sigset_t mask;

    if (words >= 0)
        dup2(words, STDERR_FILENO);
    if (w->kind->oom_score)
        daemonize_oom_score(w->kind->oom_score);
    if (w->kind->has_signer)
        sign(w);
    withhold(w->kind->withheld);
    /* SIGTERM is blocked until the program reads it. */
    sigemptyset(&mask);
    sigaddset(&mask, SIGTERM);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    /* Execute it by descriptor. This path works for a script as well. */
    snprintf(path, sizeof path, "/proc/self/fd/%d", w->kind->program_fd);
    execv(path, argv);
    log_line(LOG_ERROR, "%s cannot be executed: %s", w->name, strerror(errno));
    _exit(w->served ? 1 : CONTRACT_EXIT_CONFIG);
}

int ward_start(ward_t *w, int64_t now, int stop)
{
    pid_t pid = fork();

    if (pid == 0)
        become(w, stop);
    if (pid < 0) {
        log_line(LOG_ERROR, "%s cannot be started: fork: %s", w->kind->program,
                 strerror(errno));
        return -1;
    }
    begin(w, pid, pidfd_open(pid, 0), 1, now);
    w->is_stopping = stop;
    return 0;
}

int ward_has_ended(const ward_t *w)
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

int ward_is_child(const ward_t *w, pid_t pid)
{
    return w->child && w->pid == pid;
}

/* Without a pidfd it is our child. Its pid is not used again before we reap
 * it. */
static void send_signal(const ward_t *w, int sign)
{
    if (w->pidfd >= 0)
        pidfd_send_signal(w->pidfd, sign, NULL, 0);
    else if (w->pid > 0)
        kill(w->pid, sign);
}

void ward_stop(ward_t *w, int64_t now)
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

/* @return checks in a row that say that it does not end, or hangs */
static int failed_checks(ward_t *w)
{
    if (w->is_stopping && w->stop_checks)
        return ++w->beat.silent;
    heartbeat_check(&w->beat, w->dirfd, w->kind->heartbeat);
    return w->beat.inode == 0 ? 0 : w->beat.silent;
}

int ward_check(ward_t *w, int64_t now)
{
    int pause = w->is_stopping ? STOP_PAUSE : CHECK_PAUSE,
        stop_limit = w->stop_checks ? w->stop_checks : STOP_CHECKS,
        limit = w->is_stopping ? stop_limit : CHECKS, failed;

    if (w->pid == 0 || now < w->check_at)
        return 0;
    w->check_at = now + pause;
    failed = failed_checks(w);
    if (failed != limit)
        return failed > limit;
    /* Send the signal first: the program may wait for the log, and then we may
     * wait, too. */
    send_signal(w, SIGKILL);
    log_line(
        LOG_ERROR, "%s %d %s for %d s: SIGKILL", w->kind->name, (int)w->pid,
        w->is_stopping && w->stop_checks ? "was told to stop and has not ended"
                                         : "has had no heartbeat",
        limit * pause / 1000);
    return 0;
}

static void drop_pidfd(ward_t *w)
{
    if (w->pidfd >= 0)
        close(w->pidfd);
    w->pidfd = -1;
}

int64_t ward_abandon(ward_t *w, int64_t now)
{
    log_line(LOG_ERROR,
             "%s %d survives SIGKILL: it waits for a disk, or another "
             "part of the kernel, and never runs again",
             w->kind->name, (int)w->pid);
    drop_pidfd(w);
    w->pid = 0;
    if (now - w->born > FORGIVE_AFTER)
        w->unkillable = 0;
    return (int64_t)w->unkillable++ * UNKILLABLE_PAUSE;
}

int ward_log_end(ward_t *w, int asked)
{
    char cause[REAP_CAUSE_MAX], words[STDERR_FILE_MAX];
    siginfo_t info;
    int code;

    memset(&info, 0, sizeof info);
    /* If a debugger still has it, its exit status is not known. */
    if (w->child)
        waitid(P_PID, (id_t)w->pid, &info, WEXITED | WNOHANG);
    drop_pidfd(w);
    code = info.si_pid != 0 && info.si_code == CLD_EXITED ? info.si_status : -1;
    if (code != CONTRACT_EXIT_AGAIN && code != CONTRACT_EXIT_REPLACED &&
        (!asked || code != CONTRACT_EXIT_DONE))
        log_line(asked && !w->child ? LOG_NOTICE : LOG_ERROR,
                 "%s %d ended: %s%s", w->kind->name, (int)w->pid,
                 reap_cause(&info, cause),
                 stderr_file_read(w->dirfd, w->kind->words, words));
    w->pid = 0;
    w->served |= code != CONTRACT_EXIT_CONFIG;
    return code;
}

/* A program that dies again and again must not take the processor from httpd,
 * and must not fill the log. Each death is a debt of one. A life pays some of
 * it back. @return s */
static int add_death(ward_t *w, int64_t lived)
{
    int64_t paid = lived / PAYS;

    w->debt = paid >= w->debt ? 0 : w->debt - (int)paid;
    if (w->debt < FREE + LONGEST)
        w->debt++;
    return w->debt > FREE ? w->debt - FREE : 0;
}

int64_t ward_pause(ward_t *w, int code, int64_t now)
{
    int64_t lived = now - w->born;
    int s;

    if (code == CONTRACT_EXIT_AGAIN && lived >= PAYS)
        return 0;
    s = add_death(w, lived);
    if (s > w->last_pause)
        log_line(LOG_ERROR, "%s dies again and again: next start in %d s",
                 w->kind->name, s);
    w->last_pause = s;
    return (int64_t)s * 1000;
}
