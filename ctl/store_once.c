/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "ctl/store_once.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ctl/ask.h"
#include "ctl/store_lock.h"
#include "ctl/store_name.h"
#include "base/clock_ms.h"

#define EVERY     30      /* s: the default */
#define EVERY_MAX 2592000 /* s: what is longer is a date, says memcached */
#define CONNECT   60      /* s: the longest wait for a connection */
#define AGAIN     1000    /* ms: until the lost lock is tried again */

static struct {
    const char *dir, *space, *name;
    int kill;    /* --kill */
    int lock;    /* the connection that holds it; -1: none */
    int is_lost; /* the lock, and it is tried again */
    pid_t pid;
    int signals;
} once = {.lock = -1};

/* ---- what is asked for ---- */

/* @return 0: it is not a whole number up to `most` */
static int read_whole(const char *text, unsigned most, unsigned *value)
{
    char *end;
    unsigned long n;

    if (!text)
        return 1;
    errno = 0;
    n = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno || n > most)
        return 0;
    *value = (unsigned)n;
    return 1;
}

/* ---- the command ---- */

/* Without this process nobody holds the lock. It may be dead already. */
static void end_with(pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        raise(SIGTERM);
}

static void start_child(const char *const *words, pid_t parent)
{
    if (once.kill)
        end_with(parent);
    execvp(words[0], (char *const *)(uintptr_t)words);
    ask_complain(EXIT_NO, "%s cannot be run: %s", words[0], strerror(errno));
    _exit(errno == ENOENT ? 127 : 126);
}

/* A terminal sends SIGINT and SIGQUIT to the command, too. SIGTERM and SIGHUP
 * are passed on: the lock is held until the command has ended. */
static int start(const char *const *words)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN}, interrupt, quit;
    pid_t self = getpid();
    sigset_t own, before;

    /* Where it is ignored, no end of a process is reported. */
    signal(SIGCHLD, SIG_DFL);
    sigemptyset(&own);
    sigaddset(&own, SIGCHLD);
    sigaddset(&own, SIGTERM);
    sigaddset(&own, SIGHUP);
    sigprocmask(SIG_BLOCK, &own, &before);
    sigaction(SIGINT, &ignore, &interrupt);
    sigaction(SIGQUIT, &ignore, &quit);
    once.signals = signalfd(-1, &own, SFD_CLOEXEC | SFD_NONBLOCK);
    once.pid = once.signals >= 0 ? fork() : -1;
    if (once.pid == 0) {
        sigaction(SIGINT, &interrupt, NULL);
        sigaction(SIGQUIT, &quit, NULL);
        sigprocmask(SIG_SETMASK, &before, NULL);
        start_child(words, self);
    }
    return once.pid > 0 ? 0 : -1;
}

static void pass_signals(void)
{
    struct signalfd_siginfo got;

    while (read(once.signals, &got, sizeof got) == sizeof got)
        if (got.ssi_signo != SIGCHLD)
            kill(once.pid, (int)got.ssi_signo);
}

/* ---- the lock ---- */

/* @return ms */
static int left(int64_t until)
{
    int64_t ms = until - clock_ms();

    return ms > 0 ? (int)ms : 0;
}

/* Before the command runs, any signal ends this process. After it, the end of
 * the connection frees the lock as well. */
static int wait_alone(int fd, int64_t until)
{
    struct pollfd one = {fd, POLLIN, 0};

    return poll(&one, 1, left(until)) > 0;
}

static int has_ended(void)
{
    siginfo_t info = {.si_pid = 0};

    return waitid(P_PID, (id_t)once.pid, &info, WEXITED | WNOHANG | WNOWAIT) ==
               0 &&
           info.si_pid != 0;
}

/* While it runs: its signals and its end do not wait for the store. */
static int wait_beside(int fd, int64_t until)
{
    struct pollfd fds[2] = {{fd, POLLIN, 0}, {once.signals, POLLIN, 0}};

    while (!has_ended()) {
        if (poll(fds, 2, left(until)) == 0 || fds[0].revents)
            return fds[0].revents;
        pass_signals();
    }
    return 0;
}

/* What was started cannot be undone. */
static void lose(void)
{
    close(once.lock);
    once.lock = -1;
    once.is_lost = !once.kill;
    ask_complain(EXIT_NO,
                 "the lock %s is lost, because the connection to the store has "
                 "ended: %s",
                 once.name,
                 once.kill ? "the command is ended (--kill)"
                           : "the command goes on, and another host may start "
                             "it, too");
    if (once.kill)
        kill(once.pid, SIGTERM);
}

static void look_at_store(void)
{
    char byte;
    ssize_t n = recv(once.lock, &byte, 1, MSG_PEEK | MSG_DONTWAIT);

    /* No bytes are due, so any mean that the connection is of no use. */
    if (n >= 0 || (errno != EAGAIN && errno != EINTR))
        lose();
}

/* After a change of the master the lock is free, and this one may have it. */
static void lock_again(void)
{
    store_lock_t rv;

    ask_be_quiet(1);
    rv = store_lock_take(once.dir, once.space, once.name, 0, 1, wait_beside,
                         &once.lock);
    ask_be_quiet(0);
    if (rv == STORE_LOCK_FAILED)
        return;
    once.is_lost = 0;
    ask_complain(EXIT_NO,
                 rv == STORE_LOCK_HELD ? "the lock %s is held again"
                                       : "another one holds the lock %s now",
                 once.name);
}

/* @return the exit status of the command */
static int await(void)
{
    int status = 0;

    while (waitpid(once.pid, &status, WNOHANG) == 0) {
        struct pollfd fds[2] = {{once.signals, POLLIN, 0},
                                {once.lock, POLLIN, 0}};

        if (poll(fds, 2, once.is_lost ? AGAIN : -1) == 0)
            lock_again();
        if (fds[0].revents)
            pass_signals();
        if (fds[1].revents)
            look_at_store();
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* ---- all of it ---- */

static int run(const char *const *words)
{
    int status;

    if (start(words) == 0)
        status = await();
    else
        status =
            ask_complain(STORE_ONCE_UNAVAILABLE,
                         "a process cannot be started: %s", strerror(errno));
    if (once.lock >= 0)
        store_lock_release(once.lock, once.name, wait_alone);
    return status;
}

static int run_if_first(const asked_t *q, unsigned every, unsigned conflict)
{
    once.kill = q->kill;
    switch (store_lock_take(once.dir, once.space, once.name, every, CONNECT,
                            wait_alone, &once.lock)) {
    case STORE_LOCK_HELD:
        return run(q->words + 3);
    case STORE_LOCK_FAILED:
        return STORE_ONCE_UNAVAILABLE;
    default:
        return (int)conflict;
    }
}

int store_once(const char *dir, const asked_t *q)
{
    unsigned every = EVERY, conflict = 0;
    char *space;
    int status;

    if (!store_lock_is_name(q->words[2]))
        return ask_complain(EXIT_USAGE,
                            "once: \"%s\" is not a name: up to %d letters, "
                            "digits, and . _ -",
                            q->words[2], STORE_LOCK_NAME);
    if (!read_whole(q->every, EVERY_MAX, &every))
        return ask_complain(EXIT_USAGE,
                            "--every: \"%s\" is not a number of seconds from 0 "
                            "to %d",
                            q->every, EVERY_MAX);
    if (!read_whole(q->conflict, 255, &conflict))
        return ask_complain(EXIT_USAGE,
                            "--conflict-exit-code: \"%s\" is not a number from "
                            "0 to 255",
                            q->conflict);
    status = store_name_find(dir, q->space, &space);
    if (status != EXIT_OK)
        return status == EXIT_USAGE ? status : STORE_ONCE_UNAVAILABLE;
    once.dir = dir;
    once.name = q->words[2];
    once.space = space;
    status = run_if_first(q, every, conflict);
    free(space);
    return status;
}
