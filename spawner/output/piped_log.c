/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/output/piped_log.h"

#include <apr_general.h>
#include <apr_strings.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "system/exit_cause.h"
#include "base/contract.h"
#include "system/child_reset.h"
#include "system/log.h"
#include "spawner/output/lost_lines.h"
#include "base/clock_ms.h"

#define TRY_PAUSE 1000  /* ms, between two starts */
#define SAY_AGAIN 60000 /* ms between two lines that say that it ended */
#define END_WAIT  1500  /* ms for it to end after the end of its input */
#define TERM_WAIT 200   /* ms for it to end after TERM */
#define LOOK      20    /* ms between two checks whether it has ended */

static int ends[2] = {-1, -1}; /* of its standard input */
static pid_t pid;              /* 0: it does not run */
static int64_t again;          /* ms: no start before that */

/* ---- the command ---- */

static char **words_of(const char *command)
{
    static char *shell[] = {"/bin/sh", "-c", NULL, NULL};
    char **argv;
    apr_pool_t *p;

    if (*command == '$') {
        shell[2] = strdup(command + 1);
        return shell;
    }
    apr_initialize();
    apr_pool_create(&p, NULL);
    return apr_tokenize_to_argv(command, &argv, p) == APR_SUCCESS ? argv : NULL;
}

static _Noreturn void become(const char *command)
{
    int log = log_open();
    char **argv;

    child_reset_signals();
    if (dup2(ends[0], STDIN_FILENO) < 0 ||
        dup2(log < 0 ? CONTRACT_LOG_FD : log, STDOUT_FILENO) < 0 ||
        dup2(STDOUT_FILENO, STDERR_FILENO) < 0)
        _exit(126);
    child_reset_descriptors(-1);
    argv = words_of(command);
    if (argv && argv[0])
        execvp(argv[0], argv);
    _exit(127);
}

static void say_ended(const char *command, const siginfo_t *cause)
{
    static int64_t said = -SAY_AGAIN;
    char text[EXIT_CAUSE_MAX];

    if (clock_ms() - said < SAY_AGAIN)
        return;
    log_line(LOG_WARN, "AppLog |%s: the command ended: %s; it is started again",
             command, exit_cause_text(cause, text));
    said = clock_ms();
}

static int has_ended(siginfo_t *cause)
{
    memset(cause, 0, sizeof *cause);
    return pid > 0 && waitid(P_PID, (id_t)pid, cause, WEXITED | WNOHANG) == 0 &&
           cause->si_pid == pid;
}

static void keep_running(const char *command)
{
    siginfo_t cause;

    if (has_ended(&cause)) {
        pid = 0;
        say_ended(command, &cause);
    }
    if (pid != 0 || clock_ms() < again)
        return;
    again = clock_ms() + TRY_PAUSE;
    pid = fork();
    if (pid == 0)
        become(command);
    if (pid < 0)
        pid = 0;
}

/* ---- its input ---- */

/* Both ends of the pipe stay open, so the next command reads what the last one
 * has not read. Our end does not block, so that we notice when the command
 * ends. */
static int open_pipe(void)
{
    if (ends[0] >= 0)
        return 1;
    return pipe2(ends, O_CLOEXEC) == 0 &&
           fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0;
}

int piped_log_tick(const char *command)
{
    int64_t left;

    if (ends[0] < 0)
        return -1;
    keep_running(command);
    left = again - clock_ms();
    return pid != 0 ? -1 : left > 0 ? (int)left : 0;
}

/* @return how many bytes to write at once: whole lines; or, of a line that is
 * longer than PIPE_BUF, a part. A pipe takes such a piece completely or not at
 * all */
static size_t piece(const char *text, size_t length)
{
    const char *end;

    if (length <= PIPE_BUF)
        return length;
    end = memrchr(text, '\n', PIPE_BUF);
    return end ? (size_t)(end - text) + 1 : PIPE_BUF;
}

size_t piped_log_write(const char *command, const char *text, size_t length,
                       piped_log_may_t *may)
{
    size_t done = 0;

    if (!open_pipe()) {
        lost_lines_add(text, length, strerror(errno));
        return length;
    }
    while (done < length) {
        struct pollfd room = {ends[1], POLLOUT, 0};
        ssize_t n;

        keep_running(command);
        n = write(ends[1], text + done, piece(text + done, length - done));
        if (n > 0) {
            done += (size_t)n;
            if (text[done - 1] == '\n' && !may(0))
                break;
        }
        else if (poll(&room, 1, TRY_PAUSE) == 0 && !may(1))
            break;
    }
    return done;
}

/* @return 1: it has ended */
static int wait_for_end(int ms)
{
    siginfo_t cause;

    for (; ms > 0; ms -= LOOK) {
        if (has_ended(&cause))
            return 1;
        poll(NULL, 0, LOOK);
    }
    return 0;
}

/* Nothing is taken out of the pipe to count its lines: a process that the
 * command has started may still read. */
static void say_unread(const char *command)
{
    int left = 0;

    if (ioctl(ends[0], FIONREAD, &left) == 0 && left > 0)
        log_line(LOG_WARN, "AppLog |%s: its last %d bytes were not read",
                 command, left);
}

void piped_log_end(const char *command, int reads)
{
    if (ends[0] < 0)
        return;
    close(ends[1]);
    if (pid > 0 && !wait_for_end(reads ? END_WAIT : 0)) {
        kill(pid, SIGTERM);
        if (!wait_for_end(TERM_WAIT)) {
            kill(pid, SIGKILL);
            waitpid(pid, NULL, 0);
        }
    }
    say_unread(command);
    close(ends[0]);
    ends[0] = ends[1] = -1;
    pid = 0;
    again = 0;
}
