/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file watchdog.c
 * @brief apppool-watchdog: keeps a spawner running, and a store where one is
 *        wanted, replaces one that hangs, and cleans up at the end.
 *
 * It has no state that matters. If it is killed, httpd's parent starts it
 * again, and it finds the programs that run. It uses libc only, no shared
 * memory, and allocates nothing after the start.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/heartbeat.h"
#include "base/contract.h"
#include "system/log.h"
#include "base/clock_ms.h"
#include "system/reap.h"
#include "system/daemonize.h"
#include "system/kill_instance.h"
#include "system/clear_runtime_dir.h"
#include "watchdog/store_watch.h"
#include "watchdog/ward.h"

#define NEVER      INT64_MAX
#define STOP_TRIES 3
#define TURN       1000 /* ms: maximum time of a turn of the loop */

typedef struct {
    ward_t spawner;
    store_watch_t store;
    int signals;
    int stopping;
    int unreaped;         /* orphans may be dead, so call reap_children() */
    int stops;            /* spawners that ended without stopping all */
    int status;           /* our exit code */
    int64_t start_at;     /* ms: when to start the spawner */
    int64_t parent_until; /* ms: the parent is dead, so stop then */
} watchdog_t;

static int parent_is_dead(int ms)
{
    struct pollfd parent = {CONTRACT_PARENT_FD, POLLIN, 0};

    return poll(&parent, 1, ms) == 1;
}

/* ---- the spawner ---- */

/* The spawner also stops when httpd is gone, and may notice that first. */
static int has_reason(const watchdog_t *w)
{
    struct pollfd life = {CONTRACT_LIFE_FD, 0, 0};

    return w->stopping || parent_is_dead(0) || poll(&life, 1, 0) == 1;
}

static void start(watchdog_t *w)
{
    int64_t now = clock_ms();

    w->start_at = NEVER;
    if (ward_join(&w->spawner, now)) {
        if (w->stopping)
            ward_stop(&w->spawner, now);
    }
    else if (ward_start(&w->spawner, now, w->stopping) != 0)
        w->start_at = now + 1000;
}

/* A spawner is gone. @param pause ms to the next start @return 1: start no
 * other one */
static int next(watchdog_t *w, int64_t pause)
{
    if (w->stopping && w->stops++ == STOP_TRIES)
        return 1;
    w->start_at = clock_ms() + (w->stopping ? 0 : pause);
    return 0;
}

/* @return 1: everything is done */
static int spawner_ended(watchdog_t *w)
{
    int asked = has_reason(w), code = ward_log_end(&w->spawner, asked);

    w->stopping |= asked && code == CONTRACT_EXIT_DONE;
    if (code == CONTRACT_EXIT_CONFIG) {
        w->status = CONTRACT_EXIT_CONFIG;
        return 1;
    }
    if (w->stopping && code == CONTRACT_EXIT_DONE)
        return 1;
    return next(w, w->stopping ? 0 : ward_pause(&w->spawner, code, clock_ms()));
}

static int spawner_hangs(watchdog_t *w)
{
    return next(w, ward_abandon(&w->spawner, clock_ms()));
}

static void stop(watchdog_t *w)
{
    if (w->stopping)
        return;
    w->stopping = 1;
    ward_stop(&w->spawner, clock_ms());
    if (w->spawner.pid == 0)
        w->start_at = clock_ms();
}

/* ---- the store ---- */

/* Reap an orphan of an app. The end of a ward is noticed by its pidfd. */
static int reap_one(const siginfo_t *info, void *ctx)
{
    const watchdog_t *w = ctx;

    if (ward_is_child(&w->spawner, info->si_pid) ||
        ward_is_child(&w->store.ward, info->si_pid))
        return 1;
    waitpid(info->si_pid, NULL, WNOHANG);
    return 0;
}

/* The apps have ended, and may have used the store until then. */
static void stop_store(watchdog_t *w)
{
    store_watch_stop(&w->store, clock_ms());
    while (store_watch_runs(&w->store)) {
        struct pollfd end = {w->store.ward.pidfd, POLLIN, 0};

        poll(&end, 1, end.fd < 0 ? TURN / 10 : TURN);
        heartbeat();
        reap_children(reap_one, w);
        store_watch_tick(&w->store, clock_ms());
    }
}

/* ---- events ---- */

static void on_signals(watchdog_t *w)
{
    struct signalfd_siginfo got;

    while (read(w->signals, &got, sizeof got) == sizeof got)
        if (got.ssi_signo == SIGTERM)
            stop(w);
        else if (got.ssi_signo == SIGHUP)
            store_watch_look(&w->store, clock_ms());
    w->unreaped = 1;
}

static int wait_ms(const watchdog_t *w)
{
    int64_t at = w->start_at < w->parent_until ? w->start_at : w->parent_until;
    int64_t left;

    if (w->unreaped)
        return 0;
    if (w->store.start_at < at)
        at = w->store.start_at;
    left = at - clock_ms();
    return left < 0 ? 0 : left > TURN ? TURN : (int)left;
}

/* httpd does not use this instance any more: it is gone, or has another one. */
static void life_ended(watchdog_t *w)
{
    /* A dying process closes its files a moment before it is dead. */
    if (w->parent_until == NEVER && !parent_is_dead(100))
        log_line(LOG_NOTICE, "no process of httpd uses %s any more",
                 w->spawner.runtime);
    w->parent_until = NEVER - 1;
    stop(w);
}

static void watch(watchdog_t *w)
{
    struct pollfd fds[5];

    for (;;) {
        int orphaned = w->parent_until != NEVER;

        fds[0] = (struct pollfd){w->signals, POLLIN, 0};
        fds[1] = (struct pollfd){w->spawner.pidfd, POLLIN, 0};
        fds[2] = (struct pollfd){
            orphaned || w->stopping ? -1 : CONTRACT_PARENT_FD, POLLIN, 0};
        fds[3] = (struct pollfd){w->stopping ? -1 : CONTRACT_LIFE_FD, 0, 0};
        fds[4] = (struct pollfd){w->store.ward.pidfd, POLLIN, 0};
        if (poll(fds, 5, wait_ms(w)) < 0 && errno != EINTR)
            poll(NULL, 0, 100);
        heartbeat();
        log_tick(0);
        if (fds[2].revents) {
            log_line(LOG_WARN, "httpd's parent process is gone");
            w->parent_until = clock_ms() + CONTRACT_ORPHANS * 1000;
        }
        if (fds[3].revents || clock_ms() >= w->parent_until)
            life_ended(w);
        if (ward_has_ended(&w->spawner) && spawner_ended(w))
            return;
        if (fds[0].revents)
            on_signals(w);
        if (w->unreaped)
            w->unreaped = reap_children(reap_one, w);
        if (ward_check(&w->spawner, clock_ms()) && spawner_hangs(w))
            return;
        if (w->spawner.pid == 0 && clock_ms() >= w->start_at)
            start(w);
        store_watch_tick(&w->store, clock_ms());
    }
}

/* ---- start and end ---- */

static int usage(const char *what)
{
    fprintf(stderr,
            "usage: apppool-watchdog RUNTIME-DIRECTORY [" CONTRACT_STOP "]\n"
            "It is started by httpd (mod_apppool), with its descriptors.\n"
            "apppool-watchdog: %s\n",
            what);
    return CONTRACT_EXIT_CONFIG;
}

static const char *check_descriptors(void)
{
    struct pollfd parent = {CONTRACT_PARENT_FD, POLLIN, 0};
    struct stat st;

    if (fstat(CONTRACT_LIFE_FD, &st) != 0 || !S_ISFIFO(st.st_mode))
        return "descriptor 3 is not httpd's life pipe";
    if (fstat(CONTRACT_DOORBELL_FD, &st) != 0)
        return "descriptor 4 is not open";
    if (fstat(CONTRACT_LOCK_FD, &st) != 0 || !S_ISREG(st.st_mode))
        return "descriptor 5 is not the lock file";
    if (poll(&parent, 1, 0) < 0 || (parent.revents & POLLNVAL))
        return "descriptor 6 is not open";
    if (fcntl(CONTRACT_PROGRAM_FD, F_GETFD) < 0)
        return "descriptor 8 is not open";
    return NULL;
}

/* Clean up after the last spawner. */
static void clean_up(const watchdog_t *w)
{
    char instance[33];
    ssize_t n = 0;
    int fd = openat(w->spawner.dirfd, CONTRACT_INSTANCE,
                    O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

    if (fd >= 0) {
        n = read(fd, instance, sizeof instance - 1);
        close(fd);
    }
    instance[n > 0 ? n : 0] = 0;
    instance[strspn(instance, "0123456789abcdef")] = 0;
    kill_instance(instance);
    log_tick(1);
    clear_runtime_dir(w->spawner.dirfd, w->spawner.runtime, parent_is_dead(0));
}

int main(int argc, char **argv)
{
    static watchdog_t w = {.parent_until = NEVER};
    const char *wrong;
    int dir;

    if (argc == 2 && strcmp(argv[1], "--version") == 0)
        return puts(CONTRACT_WATCHDOG_VERSION) < 0;
    w.stopping = argc == 3 && strcmp(argv[2], CONTRACT_STOP) == 0;
    if (argc != 2 + w.stopping || argv[1][0] != '/')
        return usage("one absolute path is wanted");
    wrong = check_descriptors();
    if (wrong)
        return usage(wrong);
    close(CONTRACT_SELF_FD);
    dir = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return usage(strerror(errno));
    ward_begin(&w.spawner, &ward_spawner, argv[1], dir, argv[0]);
    store_watch_begin(&w.store, argv[1], dir, argv[0]);
    umask(077);
    log_directory(dir);
    heartbeat_begin(dir, CONTRACT_WATCHDOG_HEARTBEAT);
    w.signals = daemonize(CONTRACT_WATCHDOG_PROGRAM, SIGHUP);
    daemonize_oom_score("-1000");
    w.start_at = clock_ms();
    if (!w.stopping)
        store_watch_look(&w.store, w.start_at);
    watch(&w);
    stop_store(&w);
    clean_up(&w);
    return w.status;
}
