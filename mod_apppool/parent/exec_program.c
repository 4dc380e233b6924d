/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/parent/parent.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Make a copy above the numbers that the descriptors will get, so that none
 * overwrites another one. @return -1: errno */
static int copy_up(int fd)
{
    int null, up;

    if (fd >= 0)
        return fcntl(fd, F_DUPFD_CLOEXEC, APPPOOL_EXEC_FDS);
    null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0)
        return -1;
    up = fcntl(null, F_DUPFD_CLOEXEC, APPPOOL_EXEC_FDS);
    close(null);
    return up;
}

static int place_descriptors(posix_spawn_file_actions_t *a, const int *up,
                             int n)
{
    int i, error = 0;

    for (i = 0; i < n && !error; i++)
        error = posix_spawn_file_actions_adddup2(a, up[i], i);
    if (!error)
        error = posix_spawn_file_actions_addclosefrom_np(a, n);
    if (!error)
        error = posix_spawn_file_actions_addchdir_np(a, "/");
    return error;
}

/* Begin a new session, because httpd signals its whole process group. SIGTERM
 * and SIGHUP are blocked: they wait until the program reads them. */
static int set_attributes(posix_spawnattr_t *attr)
{
    sigset_t all, mask;
    int error;

    /* Also reset the two signals that glibc reserves. Otherwise they would be
     * ignored. */
    memset(&all, 0xff, sizeof all);
    sigemptyset(&mask);
    sigaddset(&mask, SIGTERM);
    sigaddset(&mask, SIGHUP);
    error = posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSID |
                                               POSIX_SPAWN_SETSIGDEF |
                                               POSIX_SPAWN_SETSIGMASK);
    if (!error)
        error = posix_spawnattr_setsigdefault(attr, &all);
    if (!error)
        error = posix_spawnattr_setsigmask(attr, &mask);
    return error;
}

/* "NAME=value" of httpd's environment, where it is set. */
static void scrub_environment(char (*values)[256], char **env)
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
}

static int spawn(pid_t *pid, char *const argv[], const int *up, int n)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    char path[32], values[4][256];
    char *env[6];
    int error = posix_spawn_file_actions_init(&actions);

    if (error)
        return error;
    error = posix_spawnattr_init(&attr);
    if (error)
        goto leave;
    scrub_environment(values, env);
    /* Not close-on-exec: it might be a script. */
    snprintf(path, sizeof path, "/proc/self/fd/%d", n - 1);
    error = place_descriptors(&actions, up, n);
    if (!error)
        error = set_attributes(&attr);
    if (!error)
        error = posix_spawn(pid, path, &actions, &attr, argv, env);
    posix_spawnattr_destroy(&attr);
leave:
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

int apppool_exec_program(pid_t *pid, int program, char *const argv[],
                         const int *fds, int n)
{
    int up[APPPOOL_EXEC_FDS], made, error = 0;

    if (n >= APPPOOL_EXEC_FDS)
        return E2BIG;
    memset(up, -1, sizeof up);
    for (made = 0; made <= n && !error; made++) {
        up[made] = copy_up(made < n ? fds[made] : program);
        if (up[made] < 0)
            error = errno;
    }
    if (!error)
        error = spawn(pid, argv, up, made);
    while (made-- > 0)
        if (up[made] >= 0)
            close(up[made]);
    return error;
}
