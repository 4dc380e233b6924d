/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/parent/watchdog_process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mod_apppool/parent/exec_program.h"
#include "shm/lock/lock_token.h"
#include "base/contract.h"

#define WAIT_STEP  (10 * 1000) /* us */
#define WORDS_PATH (CONTRACT_RUNTIME_MAX + 32)
#define FIRST_FD   3 /* of the descriptors in retained.h */

static void words_path(char path[WORDS_PATH], const char *runtime)
{
    snprintf(path, WORDS_PATH, "%s/" CONTRACT_WATCHDOG_STDERR, runtime);
}

/* Its stderr: a file for what it prints before it dies, or else httpd's
 * stderr. */
static int open_words(const char *runtime)
{
    char path[WORDS_PATH];
    int fd;

    words_path(path, runtime);
    fd = stderr_file_open(AT_FDCWD, path);
    return fd < 0 ? dup(STDERR_FILENO) : fd;
}

static int start(pid_t *pid, const apppool_retained_t *r, const char *runtime,
                 const char *word)
{
    char *argv[] = {(char *)(uintptr_t)r->name, (char *)(uintptr_t)runtime,
                    (char *)(uintptr_t)word, NULL};
    int fds[FIRST_FD + APPPOOL_RETAINED_FDS];
    apr_uint32_t i;
    int error;

    fds[0] = -1;
    fds[CONTRACT_LOG_FD] = STDERR_FILENO;
    fds[STDERR_FILENO] = open_words(runtime);
    for (i = 0; i < r->n_fds && i < APPPOOL_RETAINED_FDS; i++)
        fds[FIRST_FD + i] = r->fds[i];
    error = apppool_exec_program(pid, r->program, argv, fds, FIRST_FD + (int)i);
    close(fds[STDERR_FILENO]);
    return error;
}

int apppool_watchdog_process_start(apppool_retained_t *r)
{
    pid_t pid = 0;
    int error = start(&pid, r, r->runtime, NULL);

    r->since = apl_now();
    r->watchdog = error ? 0 : pid;
    return error;
}

int apppool_watchdog_process_end(pid_t *pid, const apppool_retained_t *r,
                                 const char *runtime)
{
    return start(pid, r, runtime, CONTRACT_STOP);
}

/* ---- end ---- */

const char *apppool_watchdog_process_last_words(const apppool_retained_t *r,
                                                char buf[STDERR_FILE_MAX])
{
    char path[WORDS_PATH];

    words_path(path, r->runtime);
    return stderr_file_read(AT_FDCWD, path, buf);
}

int apppool_watchdog_process_runs(pid_t pid, int *status)
{
    *status = 0;
    return pid > 0 && waitpid(pid, status, WNOHANG) == 0;
}

int apppool_watchdog_process_silent(const apppool_retained_t *r,
                                    heartbeat_t *pulse)
{
    char path[WORDS_PATH];

    snprintf(path, sizeof path, "%s/" CONTRACT_WATCHDOG_HEARTBEAT, r->runtime);
    heartbeat_check(pulse, AT_FDCWD, path);
    return pulse->inode == 0 ? 0 : pulse->silent;
}

int apppool_watchdog_process_wait(pid_t pid, apr_interval_time_t limit,
                                  int *status)
{
    int64_t end = apl_now() + limit;
    pid_t got;

    while ((got = waitpid(pid, status, WNOHANG)) == 0 ||
           (got < 0 && errno == EINTR)) {
        if (apl_now() >= end)
            return 0;
        apr_sleep(WAIT_STEP);
    }
    if (got != pid)
        *status = -1;
    return 1;
}
