/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/parent/parent.h"

#include <httpd.h>

#include <apr_strings.h>
#include <apr_time.h>
#include <errno.h>
#include <fcntl.h>
#include <http_config.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shm/format/format.h"
#include "shm/lock/lock_token.h"
#include "base/contract.h"

/* This is long, because httpd does not start without a response, and the
 * machine may be busy. */
#define PATIENCE        (20 * APR_USEC_PER_SEC) /* by apl_now() */
#define LINE_MAX_LENGTH 120
#define REMEDY                                                                 \
    "; install the programs of the module's build, or set "                    \
    "AppPoolLibexec to their directory"

/* ---- --version ---- */

static int left_ms(int64_t end)
{
    int64_t left = end - apl_now();

    return left <= 0 ? 0 : (int)(left / 1000) + 1;
}

/* Read the first line; "" if there is none. @return 0: it took too long */
static int read_line(int fd, int64_t end, char line[LINE_MAX_LENGTH])
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

static int ended(pid_t pid, int64_t end)
{
    while (waitpid(pid, NULL, WNOHANG) == 0) {
        if (apl_now() >= end)
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
    int64_t end = apl_now() + PATIENCE;
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

/* ---- what was checked before ---- */

/* httpd reads its configuration twice when it starts, and loads the module
 * again in between. A file that has not changed since its check is not checked
 * again. */
typedef struct {
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec changed;
    char version[LINE_MAX_LENGTH]; /* that it printed */
} checked_t;

enum { WATCHDOG, SPAWNER, STORE, PROGRAMS };

/* Another build may find what this one has remembered: change the number with
 * checked_t or the order of the programs. */
#define CHECKED "mod_apppool: checked helper programs, 1"

static checked_t *checked(int program)
{
    checked_t *all = ap_retained_data_get(CHECKED);

    if (!all)
        all = ap_retained_data_create(CHECKED, PROGRAMS * sizeof *all);
    return &all[program];
}

static int is_checked(const checked_t *c, const struct stat *st,
                      const char *version)
{
    return c->device == st->st_dev && c->inode == st->st_ino &&
           c->size == st->st_size && c->changed.tv_sec == st->st_ctim.tv_sec &&
           c->changed.tv_nsec == st->st_ctim.tv_nsec &&
           strcmp(c->version, version) == 0;
}

static void remember(checked_t *c, const struct stat *st, const char *version)
{
    c->device = st->st_dev;
    c->inode = st->st_ino;
    c->size = st->st_size;
    c->changed = st->st_ctim;
    apr_cpystrn(c->version, version, sizeof c->version);
}

/* ---- one program ---- */

static const char *path_of(apr_pool_t *p, const char *libexec, int program)
{
    static const char *const names[PROGRAMS] = {CONTRACT_WATCHDOG_PROGRAM,
                                                CONTRACT_SPAWNER_PROGRAM,
                                                CONTRACT_STORE_PROGRAM};

    return apr_pstrcat(p, libexec, "/", names[program], NULL);
}

static const char *cannot(apr_pool_t *p, const char *path, int error)
{
    return apr_psprintf(p, "cannot execute %s: %s" REMEDY, path,
                        strerror(error));
}

static const char *check(int fd, apr_pool_t *p, const char *path, int program,
                         const char *version)
{
    char line[LINE_MAX_LENGTH] = "";
    struct stat st;
    int error;

    if (fstat(fd, &st) != 0)
        return cannot(p, path, errno);
    if (S_ISDIR(st.st_mode))
        return cannot(p, path, EISDIR);
    if (is_checked(checked(program), &st, version))
        return NULL;
    error = run_version(fd, path, line);
    if (error == ETIMEDOUT)
        return apr_psprintf(p, "%s --version did not end within %d s" REMEDY,
                            path, (int)apr_time_sec(PATIENCE));
    if (error)
        return cannot(p, path, error);
    if (strcmp(line, version) != 0)
        return apr_psprintf(p,
                            "%s is not of the module's build: asked for "
                            "--version it says \"%s\" and not \"%s\"" REMEDY,
                            path, line, version);
    remember(checked(program), &st, version);
    return NULL;
}

static const char *open_one(int *fd, apr_pool_t *p, const char *libexec,
                            int program, const char *version)
{
    const char *path = path_of(p, libexec, program);

    *fd = open(path, O_PATH | O_CLOEXEC);
    return *fd < 0 ? cannot(p, path, errno)
                   : check(*fd, p, path, program, version);
}

/* ---- all ---- */

const char *apppool_programs_check_store(int fd, apr_pool_t *p,
                                         const char *libexec)
{
    return check(fd, p, path_of(p, libexec, STORE), STORE,
                 CONTRACT_STORE_VERSION);
}

/* Without AppStore it may be missing, or wrong. */
static const char *open_store(int *fd, apr_pool_t *p, const char *libexec,
                              int needed)
{
    if (needed)
        return open_one(fd, p, libexec, STORE, CONTRACT_STORE_VERSION);
    *fd = open(path_of(p, libexec, STORE), O_PATH | O_CLOEXEC);
    return NULL;
}

const char *apppool_programs_open(apppool_programs_t *programs, apr_pool_t *p,
                                  const char *libexec, int store)
{
    const char *wrong;

    programs->spawner = programs->store = -1;
    wrong = open_one(&programs->watchdog, p, libexec, WATCHDOG,
                     CONTRACT_WATCHDOG_VERSION);
    if (!wrong)
        wrong = open_one(&programs->spawner, p, libexec, SPAWNER,
                         apr_psprintf(p, CONTRACT_SPAWNER_VERSION, APL_LAYOUT));
    if (!wrong)
        wrong = open_store(&programs->store, p, libexec, store);
    if (wrong)
        apppool_programs_close(programs);
    return wrong;
}

void apppool_programs_close(apppool_programs_t *programs)
{
    if (programs->watchdog >= 0)
        close(programs->watchdog);
    if (programs->spawner >= 0)
        close(programs->spawner);
    if (programs->store >= 0)
        close(programs->store);
    programs->watchdog = programs->spawner = programs->store = -1;
}
