/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/parent/helper_programs.h"

#include <apr_strings.h>
#include <apr_time.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mod_apppool/parent/exec_program.h"
#include "shm/format/format.h"
#include "spawner/shared/contract.h"

/* This is long, because httpd does not start without a response, and the
 * machine may be busy. */
#define PATIENCE        (20 * APR_USEC_PER_SEC)
#define LINE_MAX_LENGTH 120
#define REMEDY                                                                 \
    "; install the programs of the module's build, or set "                    \
    "AppPoolLibexec to their directory"

/* ---- --version ---- */

static int left_ms(apr_time_t end)
{
    apr_time_t left = end - apr_time_now();

    return left <= 0 ? 0 : (int)(left / 1000) + 1;
}

/* Read the first line; "" if there is none. @return 0: it took too long */
static int read_line(int fd, apr_time_t end, char line[LINE_MAX_LENGTH])
{
    struct pollfd output = {fd, POLLIN, 0};
    size_t length = 0;
    ssize_t n = -1;

    while (n != 0 && length < LINE_MAX_LENGTH - 1) {
        if (poll(&output, 1, left_ms(end)) == 0)
            return 0;
        n = read(fd, line + length, LINE_MAX_LENGTH - 1 - length);
        length += n > 0 ? (size_t)n : 0;
    }
    line[length] = 0;
    line[strcspn(line, "\r\n")] = 0;
    return 1;
}

static int ended(pid_t pid, apr_time_t end)
{
    while (waitpid(pid, NULL, WNOHANG) == 0) {
        if (apr_time_now() >= end)
            return 0;
        apr_sleep(1000);
    }
    return 1;
}

/* @return 0; ETIMEDOUT, or why it cannot be executed */
static int run_version(int program, const char *path,
                       char line[LINE_MAX_LENGTH])
{
    char *argv[] = {(char *)(apr_uintptr_t)path,
                    (char *)(apr_uintptr_t) "--version", NULL};
    apr_time_t end = apr_time_now() + PATIENCE;
    int ends[2], fds[3], error;
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
        return errno;
    fds[0] = fds[2] = -1;
    fds[1] = ends[1];
    error = apppool_exec_program(&pid, program, argv, fds, 3);
    close(ends[1]);
    if (!error && (!read_line(ends[0], end, line) || !ended(pid, end))) {
        error = ETIMEDOUT;
        kill(-pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
    close(ends[0]);
    return error;
}

/* ---- one program ---- */

static const char *open_one(int *fd, apr_pool_t *p, const char *libexec,
                            const char *name, const char *version)
{
    const char *path = apr_pstrcat(p, libexec, "/", name, NULL);
    char line[LINE_MAX_LENGTH] = "";
    struct stat st;
    int error = 0;

    *fd = open(path, O_PATH | O_CLOEXEC);
    if (*fd < 0 || fstat(*fd, &st) != 0)
        error = errno;
    else if (S_ISDIR(st.st_mode))
        error = EISDIR;
    else
        error = run_version(*fd, path, line);
    if (error == ETIMEDOUT)
        return apr_psprintf(p, "%s --version did not end within %d s" REMEDY,
                            path, (int)apr_time_sec(PATIENCE));
    if (error)
        return apr_psprintf(p, "cannot execute %s: %s" REMEDY, path,
                            strerror(error));
    if (strcmp(line, version) != 0)
        return apr_psprintf(p,
                            "%s is not of the module's build: asked for "
                            "--version it says \"%s\" and not \"%s\"" REMEDY,
                            path, line, version);
    return NULL;
}

/* ---- all ---- */

/* Without AppStore it may be missing. */
static const char *open_store(int *fd, apr_pool_t *p, const char *libexec,
                              int needed)
{
    const char *path =
        apr_pstrcat(p, libexec, "/" CONTRACT_STORE_PROGRAM, NULL);

    *fd = -1;
    if (!needed && access(path, F_OK) != 0)
        return NULL;
    return open_one(fd, p, libexec, CONTRACT_STORE_PROGRAM,
                    CONTRACT_STORE_VERSION);
}

const char *apppool_helper_programs_open(apppool_helper_programs_t *programs,
                                         apr_pool_t *p, const char *libexec,
                                         int store)
{
    const char *wrong;

    programs->spawner = programs->store = -1;
    wrong = open_one(&programs->watchdog, p, libexec, CONTRACT_WATCHDOG_PROGRAM,
                     CONTRACT_WATCHDOG_VERSION);
    if (!wrong)
        wrong =
            open_one(&programs->spawner, p, libexec, CONTRACT_SPAWNER_PROGRAM,
                     apr_psprintf(p, CONTRACT_SPAWNER_VERSION, APL_LAYOUT));
    if (!wrong)
        wrong = open_store(&programs->store, p, libexec, store);
    if (wrong)
        apppool_helper_programs_close(programs);
    return wrong;
}

void apppool_helper_programs_close(apppool_helper_programs_t *programs)
{
    if (programs->watchdog >= 0)
        close(programs->watchdog);
    if (programs->spawner >= 0)
        close(programs->spawner);
    if (programs->store >= 0)
        close(programs->store);
    programs->watchdog = programs->spawner = programs->store = -1;
}
