/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "ctl/store_once.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ctl/ask.h"
#include "ctl/store_lock.h"

#define EVERY     30      /* s: the default */
#define EVERY_MAX 2592000 /* s: what is longer is a date, says memcached */
#define AGAIN     1000    /* ms: until the lost lock is tried again */

static struct {
    const char *dir, *space, *name;
    int kill; /* --kill */
    FILE *stream;
    int is_lost; /* the lock, and it is tried again */
    pid_t pid;
    int signals;
} once;

/* ---- what is asked for ---- */

/* The only space there is. @return an exit status; `space` is to be freed */
static int find_space(const char *dir, char **space)
{
    const json_t *spaces;
    json_t *o;
    size_t i, n;
    int status = ask_status(dir, 0, &o);

    if (status != 0)
        return status;
    spaces = json_object_get(json_object_get(o, "store"), "spaces");
    n = json_array_size(spaces);
    if (n == 1)
        *space = strdup(json_string_value(
            json_object_get(json_array_get(spaces, 0), "name")));
    else if (n == 0)
        status = ask_complain(EXIT_NO, "the store has no space");
    else {
        status = ask_complain(EXIT_USAGE, "there are several spaces; name one "
                                          "with --space:");
        for (i = 0; i < n; i++)
            fprintf(stderr, "  %s\n",
                    json_string_value(
                        json_object_get(json_array_get(spaces, i), "name")));
    }
    json_decref(o);
    return status;
}

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

static void start_child(const char *const *words, const sigset_t *before)
{
    signal(SIGINT, SIG_DFL);
    signal(SIGQUIT, SIG_DFL);
    sigprocmask(SIG_SETMASK, before, NULL);
    /* Without this process nobody holds the lock. */
    if (once.kill)
        prctl(PR_SET_PDEATHSIG, SIGTERM);
    execvp(words[0], (char *const *)(uintptr_t)words);
    ask_complain(EXIT_NO, "%s cannot be run: %s", words[0], strerror(errno));
    _exit(errno == ENOENT ? 127 : 126);
}

/* A terminal sends SIGINT and SIGQUIT to the command, too. SIGTERM and SIGHUP
 * are passed on: the lock is held until the command has ended. */
static int start(const char *const *words)
{
    sigset_t own, before;

    /* Where it is ignored, no end of a process is reported. */
    signal(SIGCHLD, SIG_DFL);
    sigemptyset(&own);
    sigaddset(&own, SIGCHLD);
    sigaddset(&own, SIGTERM);
    sigaddset(&own, SIGHUP);
    sigprocmask(SIG_BLOCK, &own, &before);
    signal(SIGINT, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
    once.signals = signalfd(-1, &own, SFD_CLOEXEC | SFD_NONBLOCK);
    once.pid = once.signals >= 0 ? fork() : -1;
    if (once.pid == 0)
        start_child(words, &before);
    return once.pid > 0 ? 0 : -1;
}

static void pass_signals(void)
{
    struct signalfd_siginfo got;

    while (read(once.signals, &got, sizeof got) == sizeof got)
        if (got.ssi_signo != SIGCHLD)
            kill(once.pid, (int)got.ssi_signo);
}

/* ---- the lock, while the command runs ---- */

/* What was started cannot be undone. */
static void lose(void)
{
    fclose(once.stream);
    once.stream = NULL;
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
    ssize_t n = recv(fileno(once.stream), &byte, 1, MSG_PEEK | MSG_DONTWAIT);

    /* No bytes are due, so any mean that the connection is of no use. */
    if (n >= 0 || (errno != EAGAIN && errno != EINTR))
        lose();
}

/* After a change of the master the lock is free, and this one may have it. */
static void lock_again(void)
{
    switch (store_lock_take(once.dir, once.space, once.name, 0, &once.stream)) {
    case STORE_LOCK_HELD:
        once.is_lost = 0;
        ask_complain(EXIT_OK, "the lock %s is held again", once.name);
        break;
    case STORE_LOCK_FAILED:
        break;
    default:
        once.is_lost = 0;
        ask_complain(EXIT_NO, "another one holds the lock %s now", once.name);
    }
}

/* @return the exit status of the command */
static int await(void)
{
    int status = 0;

    while (waitpid(once.pid, &status, WNOHANG) == 0) {
        struct pollfd fds[2] = {
            {once.signals, POLLIN, 0},
            {once.stream ? fileno(once.stream) : -1, POLLIN, 0}};

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
    store_lock_release(once.stream, once.name);
    return status;
}

static int run_if_first(const asked_t *q, unsigned every, unsigned conflict)
{
    once.kill = q->kill;
    switch (
        store_lock_take(once.dir, once.space, once.name, every, &once.stream)) {
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
    char *found = NULL;
    int status = 0;

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
    if (!q->space)
        status = find_space(dir, &found);
    if (status != 0)
        return status == EXIT_USAGE ? status : STORE_ONCE_UNAVAILABLE;
    once.dir = dir;
    once.name = q->words[2];
    once.space = q->space ? q->space : found;
    status = run_if_first(q, every, conflict);
    free(found);
    return status;
}
