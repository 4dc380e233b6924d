/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file watchdog.c
 * @brief apppool-watchdog: keeps a spawner running, and cleans up at the end.
 *
 * It holds no state that matters: killed, it is started again by httpd's
 * parent and joins the spawner that runs. libc only, no shared memory, no
 * allocation after the start.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "spawner/cause.h"
#include "spawner/contract.h"
#include "spawner/log.h"
#include "spawner/procfs.h"
#include "spawner/sweep.h"

#define NEVER       INT64_MAX
#define LIFE_LIMIT  30000 /* ms: orphaned httpd children may finish */
#define LOOP_WINDOW 10000 /* ms: so many deaths within are a crash loop */
#define LOOP_DEATHS 5
#define LOOP_WAIT   10 /* s at the most between two starts then */
#define STOP_TRIES  3

typedef struct {
    const char *runtime;
    int dirfd;
    int signals;
    char program[PATH_MAX]; /* of the spawner */
    pid_t spawner;          /* 0: none runs */
    int pidfd;              /* its; -1: none */
    int child;              /* 1: it is our child, so waitid() tells */
    int served;             /* a spawner ran already */
    int stopping;
    int stops;  /* spawners started to stop everything */
    int status; /* exit code of ours */
    int64_t deaths[LOOP_DEATHS + 1];
    unsigned n_deaths, throttle;
    int64_t start_at;     /* ms; when to start the spawner */
    int64_t parent_until; /* ms; the parent is dead, so stop then */
} watchdog_t;

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- the spawner ---- */

static _Noreturn void become_spawner(watchdog_t *w, int stop)
{
    char *argv[] = {w->program, (char *)(uintptr_t)w->runtime,
                    stop ? (char *)(uintptr_t) "--stop" : NULL, NULL};
    sigset_t none;

    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execv(w->program, argv);
    log_line(LOG_ERROR, "%s cannot be executed: %s", w->program,
             strerror(errno));
    /* It may be missing for a moment while it is upgraded. */
    _exit(w->served ? 1 : CONTRACT_EXIT_CONFIG);
}

static void start(watchdog_t *w, int stop)
{
    pid_t pid = fork();

    if (pid == 0)
        become_spawner(w, stop);
    w->start_at = NEVER;
    if (pid < 0) {
        log_line(LOG_ERROR, "apppool-spawner cannot be started: fork: %s",
                 strerror(errno));
        w->start_at = now_ms() + 1000;
        return;
    }
    w->pidfd = pidfd_open(pid, 0);
    w->spawner = pid;
    w->child = 1;
}

/* A spawner may have survived the last watchdog: go on with that one. There
 * can only be one, so look before each start. */
static int join(watchdog_t *w)
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
    w->pidfd = procfs_pidfd((pid_t)pid, begun);
    if (w->pidfd < 0)
        return 0;
    w->spawner = (pid_t)pid;
    w->child = 0;
    w->start_at = NEVER;
    if (w->stopping)
        pidfd_send_signal(w->pidfd, SIGTERM, NULL, 0);
    log_line(LOG_NOTICE, "watchdog joins the running spawner %ld", pid);
    return 1;
}

/* When is the next spawner due? A spawner that dies at once each time must
 * not take the processor from httpd. */
static void throttle(watchdog_t *w)
{
    int64_t now = now_ms();
    unsigned slots = LOOP_DEATHS + 1;

    w->deaths[w->n_deaths++ % slots] = now;
    w->start_at = now;
    if (w->n_deaths < slots || now - w->deaths[w->n_deaths % slots] >
                                   LOOP_WINDOW * (w->throttle + 1)) {
        w->throttle = 0;
        return;
    }
    if (w->throttle < LOOP_WAIT)
        w->throttle++;
    w->start_at = now + (int64_t)w->throttle * 1000;
    log_line(LOG_ERROR, "spawner dies again and again: next start in %u s",
             w->throttle);
}

/* The spawner is gone. @return 1: everything is done */
static int spawner_ended(watchdog_t *w)
{
    siginfo_t info;
    char cause[CAUSE_MAX];
    int done;

    memset(&info, 0, sizeof info);
    if (w->child)
        waitid(P_PID, (id_t)w->spawner, &info, WEXITED);
    close(w->pidfd);
    w->pidfd = -1;
    done = info.si_pid != 0 && info.si_code == CLD_EXITED ? info.si_status : -1;
    if (!w->stopping || done != CONTRACT_EXIT_DONE)
        log_line(w->stopping && !w->child ? LOG_NOTICE : LOG_ERROR,
                 "spawner %d ended: %s", (int)w->spawner,
                 cause_text(&info, cause));
    w->spawner = 0;
    w->served |= done != CONTRACT_EXIT_CONFIG;
    if (done == CONTRACT_EXIT_CONFIG) {
        w->status = CONTRACT_EXIT_CONFIG;
        return 1;
    }
    if (!w->stopping) {
        throttle(w);
        return 0;
    }
    if (done == CONTRACT_EXIT_DONE || w->stops >= STOP_TRIES)
        return 1;
    w->stops++;
    w->start_at = now_ms();
    return 0;
}

static void stop(watchdog_t *w)
{
    if (w->stopping)
        return;
    w->stopping = 1;
    if (w->pidfd >= 0)
        pidfd_send_signal(w->pidfd, SIGTERM, NULL, 0);
    else {
        w->stops++;
        w->start_at = now_ms();
    }
}

/* ---- events ---- */

static void on_signals(watchdog_t *w)
{
    struct signalfd_siginfo got;
    siginfo_t info;

    while (read(w->signals, &got, sizeof got) == sizeof got)
        if (got.ssi_signo == SIGTERM)
            stop(w);
    /* Orphans of apps; the spawner is left to its pidfd. */
    for (;;) {
        memset(&info, 0, sizeof info);
        if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
            info.si_pid == 0 || (w->child && info.si_pid == w->spawner))
            return;
        waitpid(info.si_pid, NULL, WNOHANG);
    }
}

static int wait_ms(const watchdog_t *w)
{
    int64_t at = w->start_at < w->parent_until ? w->start_at : w->parent_until;
    int64_t left;

    if (at == NEVER)
        return -1;
    left = at - now_ms();
    return left < 0 ? 0 : left > 60000 ? 60000 : (int)left;
}

static void watch(watchdog_t *w)
{
    struct pollfd fds[4];

    for (;;) {
        int orphaned = w->parent_until != NEVER;
        int watch_life = orphaned && !w->stopping;

        fds[0] = (struct pollfd){w->signals, POLLIN, 0};
        fds[1] = (struct pollfd){w->pidfd, POLLIN, 0};
        fds[2] = (struct pollfd){
            orphaned || w->stopping ? -1 : CONTRACT_PARENT_FD, POLLIN, 0};
        /* Before the parent is dead, no EOF can be there. */
        fds[3] = (struct pollfd){watch_life ? CONTRACT_LIFE_FD : -1, 0, 0};
        if (poll(fds, 4, wait_ms(w)) < 0 && errno != EINTR)
            poll(NULL, 0, 100);
        if (fds[2].revents) {
            log_line(LOG_WARN, "httpd's parent process is gone");
            w->parent_until = now_ms() + LIFE_LIMIT;
        }
        if (orphaned && (fds[3].revents || now_ms() >= w->parent_until)) {
            w->parent_until = NEVER - 1;
            stop(w);
        }
        if (fds[1].revents && spawner_ended(w))
            return;
        if (fds[0].revents)
            on_signals(w);
        if (w->spawner == 0 && now_ms() >= w->start_at && !join(w))
            start(w, w->stopping);
    }
}

/* ---- start and end ---- */

static void write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);

    if (fd < 0)
        return;
    if (write(fd, text, strlen(text)) < 0) {
        /* Not permitted, then: it was only a wish. */
    }
    close(fd);
}

static int usage(const char *what)
{
    fprintf(stderr,
            "apppool-watchdog: %s\n"
            "usage: apppool-watchdog RUNTIME-DIRECTORY\n"
            "It is started by httpd (mod_apppool), with its descriptors.\n",
            what);
    return CONTRACT_EXIT_CONFIG;
}

static const char *check_descriptors(void)
{
    struct pollfd parent = {CONTRACT_PARENT_FD, POLLIN, 0};
    struct stat st;

    if (fstat(CONTRACT_LIFE_FD, &st) != 0 || !S_ISFIFO(st.st_mode))
        return "descriptor 3 is not httpd's life pipe";
    if (fstat(CONTRACT_BELL_FD, &st) != 0)
        return "descriptor 4 is not open";
    if (fstat(CONTRACT_LOCK_FD, &st) != 0 || !S_ISREG(st.st_mode))
        return "descriptor 5 is not the lock file";
    if (poll(&parent, 1, 0) < 0 || (parent.revents & POLLNVAL))
        return "descriptor 6 is not open";
    return NULL;
}

/* apppool-spawner stands beside this program. */
static int find_spawner(watchdog_t *w)
{
    ssize_t n = readlink("/proc/self/exe", w->program, sizeof w->program - 1);
    char *slash;

    w->program[n > 0 ? n : 0] = 0;
    slash = strrchr(w->program, '/');
    if (!slash ||
        slash + sizeof "/apppool-spawner" >= w->program + sizeof w->program)
        return 0;
    memcpy(slash, "/apppool-spawner", sizeof "/apppool-spawner");
    return 1;
}

static void settle_in(watchdog_t *w)
{
    static const int signs[] = {SIGINT, SIGHUP, SIGPIPE, SIGUSR1, SIGUSR2};
    sigset_t mask;
    size_t i;

    setsid(); /* httpd signals its process group */
    for (i = 0; i < sizeof signs / sizeof *signs; i++)
        signal(signs[i], SIG_IGN);
    sigemptyset(&mask);
    sigaddset(&mask, SIGTERM);
    sigaddset(&mask, SIGCHLD);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    w->signals = signalfd(-1, &mask, SFD_NONBLOCK | SFD_CLOEXEC);
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    write_file("/proc/self/oom_score_adj", "-1000");
}

/* What is left when the last spawner is gone. */
static void clean_up(const watchdog_t *w)
{
    struct pollfd parent = {CONTRACT_PARENT_FD, POLLIN, 0};
    char instance[33];
    ssize_t n = 0;
    int fd =
        openat(w->dirfd, CONTRACT_INSTANCE, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

    if (fd >= 0) {
        n = read(fd, instance, sizeof instance - 1);
        close(fd);
    }
    instance[n > 0 ? n : 0] = 0;
    instance[strspn(instance, "0123456789abcdef")] = 0;
    sweep_processes(instance);
    sweep_directory(w->dirfd);
    /* The lock is the parent's as long as there is one. */
    if (poll(&parent, 1, 0) == 1) {
        const char *name = strrchr(w->runtime, '/') + 1;

        unlinkat(w->dirfd, CONTRACT_LOCK, 0);
        /* One that the administrator named is his to keep. */
        if (strncmp(name, "apppool-", 8) == 0)
            rmdir(w->runtime);
    }
}

int main(int argc, char **argv)
{
    static watchdog_t w = {
        .pidfd = -1, .start_at = NEVER, .parent_until = NEVER};
    const char *wrong;

    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        printf("apppool-watchdog %s\n", APPPOOL_VERSION);
        return 0;
    }
    if (argc != 2 || argv[1][0] != '/')
        return usage("one absolute path is wanted");
    wrong = check_descriptors();
    if (wrong)
        return usage(wrong);
    w.runtime = argv[1];
    w.dirfd = open(w.runtime, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (w.dirfd < 0)
        return usage(strerror(errno));
    if (!find_spawner(&w))
        return usage("apppool-spawner must stand beside this program");
    umask(077);
    log_directory(w.dirfd);
    settle_in(&w);
    w.start_at = now_ms();
    watch(&w);
    clean_up(&w);
    return w.status;
}
