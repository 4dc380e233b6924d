/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/helper.h"

#include <apr_strings.h>
#include <apr_time.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spawner/contract.h"

#define WATCHDOG  "apppool-watchdog"
#define SPAWNER   "apppool-spawner"

#define WAIT_STEP (10 * 1000) /* us */

const char *apppool_helper_check(apr_pool_t *p, const char *libexec)
{
    static const char *const programs[] = {WATCHDOG, SPAWNER};
    size_t i;

    for (i = 0; i < sizeof programs / sizeof *programs; i++) {
        const char *path = apr_pstrcat(p, libexec, "/", programs[i], NULL);

        if (access(path, X_OK) != 0)
            return apr_psprintf(p,
                                "cannot execute %s: %s; say with "
                                "AppPoolLibexec in which directory it is",
                                path, strerror(errno));
    }
    return NULL;
}

/* ---- start ---- */

static int place_descriptors(posix_spawn_file_actions_t *a,
                             const apppool_helper_fds_t *fds)
{
    int error =
        posix_spawn_file_actions_addopen(a, 0, "/dev/null", O_RDONLY, 0);

    /* httpd's standard output is the terminal; the helpers have a log. */
    if (!error)
        error = posix_spawn_file_actions_adddup2(a, 2, 1);
    if (!error)
        error =
            posix_spawn_file_actions_adddup2(a, fds->life, CONTRACT_LIFE_FD);
    if (!error)
        error =
            posix_spawn_file_actions_adddup2(a, fds->bell, CONTRACT_BELL_FD);
    if (!error)
        error =
            posix_spawn_file_actions_adddup2(a, fds->lock, CONTRACT_LOCK_FD);
    if (!error)
        error = posix_spawn_file_actions_adddup2(a, fds->parent,
                                                 CONTRACT_PARENT_FD);
    if (!error)
        error = posix_spawn_file_actions_adddup2(a, fds->segment,
                                                 CONTRACT_SEGMENT_FD);
    if (!error)
        error =
            posix_spawn_file_actions_addclosefrom_np(a, CONTRACT_LAST_FD + 1);
    if (!error)
        error = posix_spawn_file_actions_addchdir_np(a, "/");
    return error;
}

/* A session of its own, as httpd signals its whole process group. */
static int set_attributes(posix_spawnattr_t *attr)
{
    sigset_t all, none;
    int error;

    /* Also the two that glibc keeps to itself: it would have them ignored. */
    memset(&all, 0xff, sizeof all);
    sigemptyset(&none);
    error = posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSID |
                                               POSIX_SPAWN_SETSIGDEF |
                                               POSIX_SPAWN_SETSIGMASK);
    if (!error)
        error = posix_spawnattr_setsigdefault(attr, &all);
    if (!error)
        error = posix_spawnattr_setsigmask(attr, &none);
    return error;
}

/* "NAME=value" of httpd's environment, where it is set. */
static size_t scrub_environment(char (*values)[256], char **env)
{
    static const char *const names[] = {"LANG", "LC_ALL", "LC_CTYPE", "TZ"};
    static char path[] = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:"
                         "/usr/bin:/sbin:/bin";
    size_t i, n = 0;

    env[n++] = path;
    for (i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);

        if (value && snprintf(values[i], sizeof values[i], "%s=%s", names[i],
                              value) < (int)sizeof values[i])
            env[n++] = values[i];
    }
    env[n] = NULL;
    return n;
}

int apppool_helper_start(pid_t *pid, const char *libexec, const char *runtime,
                         const apppool_helper_fds_t *fds)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    char path[PATH_MAX], dir[CONTRACT_RUNTIME_MAX + 1];
    char values[4][256];
    char *env[6];
    char *argv[] = {path, dir, NULL};
    int error;

    snprintf(path, sizeof path, "%s/" WATCHDOG, libexec);
    snprintf(dir, sizeof dir, "%s", runtime);
    scrub_environment(values, env);
    error = posix_spawn_file_actions_init(&actions);
    if (error)
        return error;
    error = posix_spawnattr_init(&attr);
    if (error)
        goto leave;
    error = place_descriptors(&actions, fds);
    if (!error)
        error = set_attributes(&attr);
    if (!error)
        error = posix_spawn(pid, path, &actions, &attr, argv, env);
    posix_spawnattr_destroy(&attr);
leave:
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* ---- end ---- */

int apppool_helper_runs(pid_t pid)
{
    return pid > 0 && waitpid(pid, NULL, WNOHANG) == 0;
}

int apppool_helper_stop(pid_t pid, apr_interval_time_t limit)
{
    apr_time_t end = apr_time_now() + limit;
    int status;
    pid_t got;

    if (pid <= 0 || kill(pid, SIGTERM) != 0)
        return -1;
    while ((got = waitpid(pid, &status, WNOHANG)) == 0 ||
           (got < 0 && errno == EINTR)) {
        if (apr_time_now() >= end) {
            kill(pid, SIGKILL);
            waitpid(pid, NULL, 0);
            return -1;
        }
        apr_sleep(WAIT_STEP);
    }
    return got == pid ? status : -1;
}
