/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/runtime.h"

#include <apr_strings.h>
#include <errno.h>
#include <fcntl.h>
#include <http_config.h>
#include <http_log.h>
#include <http_main.h>
#include <mpm_common.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mod_apppool/config.h"
#include "shm/alive.h"
#include "shm/group.h"
#include "spawner/contract.h"

APLOG_USE_MODULE(apppool);

#define WAIT_STEP  (50 * 1000)             /* us */
#define WAIT_LIMIT (60 * APR_USEC_PER_SEC) /* for a dying httpd's apps */

const char *apppool_runtime_path(apr_pool_t *p, const server_rec *main_server)
{
    apppool_server_t server = apppool_server_of(main_server);
    apr_uint64_t key;

    if (server.runtime_dir)
        return server.runtime_dir;
    key =
        apl_group_key(apr_pstrcat(p, ap_server_root, "\n", ap_pid_fname, NULL));
    return ap_runtime_dir_relative(
        p, apr_psprintf(p, "apppool-%08x", (unsigned)(key ^ key >> 32)));
}

const char *apppool_runtime_check(apr_pool_t *p, const char *path)
{
    if (!path || *path != '/')
        return "the runtime directory is no absolute path: say another with "
               "AppPoolRuntimeDir";
    if (strlen(path) <= CONTRACT_RUNTIME_MAX)
        return NULL;
    return apr_psprintf(p,
                        "the runtime directory's path, %s, is longer than the "
                        "%d bytes that leave room for the names of sockets: "
                        "say a shorter one with AppPoolRuntimeDir",
                        path, CONTRACT_RUNTIME_MAX);
}

/* ---- the directory ---- */

static const char *make_directory(apr_pool_t *p, const char *path)
{
    struct stat st;

    if (mkdir(path, 0711) != 0 && errno != EEXIST)
        return apr_psprintf(p, "cannot make the runtime directory %s: %s", path,
                            strerror(errno));
    if (lstat(path, &st) != 0)
        return apr_psprintf(p, "cannot use the runtime directory %s: %s", path,
                            strerror(errno));
    if (!S_ISDIR(st.st_mode))
        return apr_psprintf(p, "the runtime directory %s is no directory",
                            path);
    if (st.st_uid != geteuid())
        return apr_psprintf(p,
                            "the runtime directory %s belongs to user %u and "
                            "not to %u, who starts httpd: remove it, or say "
                            "another with AppPoolRuntimeDir",
                            path, (unsigned)st.st_uid, (unsigned)geteuid());
    if (chmod(path, 0711) != 0)
        return apr_psprintf(p, "cannot set the mode of %s: %s", path,
                            strerror(errno));
    return NULL;
}

/* ---- the lock ---- */

/* Has the one who wrote "PID START" into the lock file ended? */
static int holder_ended(int fd, int *pid)
{
    char text[64] = "";
    apl_who_t who = {0};
    long number = 0;
    unsigned long long start = 0;

    if (pread(fd, text, sizeof text - 1, 0) <= 0 ||
        sscanf(text, "%ld %llu", &number, &start) != 2)
        return 1;
    who.pid = (int32_t)number;
    who.start = start;
    *pid = (int)number;
    return !apl_alive(&who);
}

static void write_holder(int fd)
{
    char text[64];
    apl_who_t who;
    int n;

    if (apl_alive_look(getpid(), &who) != 0 || ftruncate(fd, 0) != 0)
        return;
    n = snprintf(text, sizeof text, "%d %llu\n", (int)who.pid,
                 (unsigned long long)who.start);
    if (pwrite(fd, text, (size_t)n, 0) != n)
        return; /* it is only for the message above */
}

/* Is what we have locked still what stands there? */
static int same_file(int fd, const char *path)
{
    struct stat a, b;

    return fstat(fd, &a) == 0 && stat(path, &b) == 0 && a.st_ino == b.st_ino &&
           a.st_dev == b.st_dev;
}

static int open_lock(const char *path)
{
    int low = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    int fd;

    if (low < 0)
        return -1;
    fd = fcntl(low, F_DUPFD_CLOEXEC, 20);
    close(low);
    return fd;
}

static const char *take_lock(apr_pool_t *p, const char *path, int *lock)
{
    apr_interval_time_t waited = 0;
    int fd = -1, pid = 0, said = 0;

    for (;; waited += WAIT_STEP, apr_sleep(WAIT_STEP)) {
        if (fd < 0)
            fd = open_lock(path);
        if (fd < 0)
            return apr_psprintf(p, "cannot open %s: %s", path, strerror(errno));
        if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
            if (same_file(fd, path))
                break;
            close(fd);
            fd = -1;
            continue;
        }
        if (!holder_ended(fd, &pid) || waited >= WAIT_LIMIT) {
            close(fd);
            return apr_psprintf(p,
                                "%s is held by another httpd (pid %d): no two "
                                "can have the same AppPoolRuntimeDir",
                                path, pid);
        }
        if (!said++)
            ap_log_error(APLOG_MARK, APLOG_STARTUP | APLOG_NOTICE, 0, NULL,
                         "apppool: waiting until the applications of an httpd "
                         "that was killed (pid %d) have ended",
                         pid);
    }
    write_holder(fd);
    *lock = fd;
    return NULL;
}

const char *apppool_runtime_open(apr_pool_t *p, const char *path, int *lock)
{
    const char *wrong = apppool_runtime_check(p, path);

    if (!wrong)
        wrong = make_directory(p, path);
    if (!wrong)
        wrong =
            take_lock(p, apr_pstrcat(p, path, "/" CONTRACT_LOCK, NULL), lock);
    return wrong;
}

void apppool_runtime_remove(const char *path)
{
    static const char *const names[] = {"/" CONTRACT_TABLE ".new",
                                        "/" CONTRACT_TABLE, "/" CONTRACT_LOCK};
    char file[CONTRACT_RUNTIME_MAX + 32];
    size_t i;

    for (i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(file, sizeof file, "%s%s", path, names[i]);
        unlink(file);
    }
    /* One that the administrator named is his to keep. */
    if (!strncmp(strrchr(path, '/') + 1, "apppool-", 8))
        rmdir(path);
}
