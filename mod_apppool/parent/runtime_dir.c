/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/parent/runtime_dir.h"

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

#include "mod_apppool/config/config.h"
#include "shm/lock/alive.h"
#include "shm/lock/lock_token.h"
#include "shm/slots/group.h"
#include "base/contract.h"

APLOG_USE_MODULE(apppool);

#define PLACES    100 /* for instances: the base, and 1 to 99 in it */
#define BASE_MAX  (CONTRACT_RUNTIME_MAX - 3)
#define WAIT_STEP (50 * 1000) /* us */

const char *apppool_runtime_dir_path(apr_pool_t *p,
                                     const server_rec *main_server)
{
    apppool_server_t server = apppool_config_server(main_server);
    apr_uint64_t key;

    if (server.runtime_dir)
        return server.runtime_dir;
    key =
        apl_group_key(apr_pstrcat(p, ap_server_root, "\n", ap_pid_fname, NULL));
    return ap_runtime_dir_relative(
        p,
        apr_psprintf(p, CONTRACT_PREFIX "%08x", (unsigned)(key ^ key >> 32)));
}

/* Is this a directory that we can use? */
static const char *check_existing(apr_pool_t *p, const char *path)
{
    struct stat st;

    if (lstat(path, &st) != 0)
        return apr_psprintf(p, "cannot use the runtime directory %s: %s", path,
                            strerror(errno));
    if (S_ISLNK(st.st_mode))
        return apr_psprintf(p,
                            "the runtime directory %s is a symbolic link: set "
                            "AppPoolRuntimeDir to the path where it leads",
                            path);
    if (!S_ISDIR(st.st_mode))
        return apr_psprintf(
            p,
            "the runtime directory %s is not a directory: remove it, or set "
            "another one with AppPoolRuntimeDir",
            path);
    /* Any user may run httpd -t. */
    if (st.st_uid != geteuid() && geteuid() == 0)
        return apr_psprintf(p,
                            "the runtime directory %s belongs to user %u, "
                            "but root starts httpd: remove it, or set "
                            "another one with AppPoolRuntimeDir",
                            path, (unsigned)st.st_uid);
    return NULL;
}

/* Can a directory be made there? */
static const char *check_parent(apr_pool_t *p, const char *path)
{
    const char *above = ap_make_dirstr_parent(p, path);
    struct stat st;

    if (stat(above, &st) != 0)
        return apr_psprintf(p,
                            "cannot make the runtime directory %s: %s; make "
                            "%s, or set another one with AppPoolRuntimeDir",
                            path, strerror(errno), above);
    if (access(above, W_OK) != 0 && errno == EROFS)
        return apr_psprintf(p,
                            "cannot make the runtime directory %s: %s; set "
                            "another one with AppPoolRuntimeDir",
                            path, strerror(errno));
    return NULL;
}

const char *apppool_runtime_dir_check(apr_pool_t *p, const char *path)
{
    struct stat st;

    if (!path || *path != '/')
        return "the runtime directory is not an absolute path: set another one "
               "with AppPoolRuntimeDir";
    if (strlen(path) > BASE_MAX)
        return apr_psprintf(p,
                            "the runtime directory's path, %s, is longer than "
                            "the %d bytes that leave room for the names of "
                            "sockets: set a shorter one with AppPoolRuntimeDir",
                            path, BASE_MAX);
    if (lstat(path, &st) != 0)
        return check_parent(p, path);
    if (access(path, W_OK) != 0 && errno == EROFS)
        return apr_psprintf(p,
                            "cannot write to the runtime directory %s: %s; set "
                            "another one with AppPoolRuntimeDir",
                            path, strerror(errno));
    return check_existing(p, path);
}

/* ---- the directory ---- */

const char *apppool_runtime_dir_make(apr_pool_t *p, const char *path)
{
    const char *wrong;
    struct stat st;

    /* The programs of a killed httpd may remove it at any moment. */
    do {
        if (mkdir(path, 0711) != 0 && errno != EEXIST)
            return apr_psprintf(p,
                                "cannot make the runtime directory %s: %s; set "
                                "another one with AppPoolRuntimeDir",
                                path, strerror(errno));
        wrong = check_existing(p, path);
        if (!wrong && chmod(path, 0711) != 0)
            wrong = apr_psprintf(p,
                                 "cannot use the runtime directory %s: %s; set "
                                 "another one with AppPoolRuntimeDir",
                                 path, strerror(errno));
    } while (wrong && lstat(path, &st) != 0 && errno == ENOENT);
    return wrong;
}

const char *apppool_runtime_dir_place(apr_pool_t *p, const char *base, int n)
{
    if (n >= PLACES)
        return NULL;
    return n ? apr_psprintf(p, "%s/%d", base, n) : base;
}

void apppool_runtime_dir_point(apr_pool_t *p, const char *base,
                               const char *place)
{
    const char *link = apr_pstrcat(p, base, "/" CONTRACT_CURRENT, NULL);

    /* For apppoolctl, which finds the base without it. */
    unlink(link);
    if (strcmp(base, place) != 0 && symlink(strrchr(place, '/') + 1, link) != 0)
        ap_log_error(APLOG_MARK, APLOG_WARNING, errno, ap_server_conf,
                     "apppool: cannot make %s", link);
}

/* ---- the lock ---- */

/* Has the process ended that wrote "PID START" into the lock file? */
static int holder_ended(int fd, int *pid)
{
    char text[64] = "";
    apl_identity_t identity = {0};
    long number = 0;
    unsigned long long start = 0;

    if (pread(fd, text, sizeof text - 1, 0) <= 0 ||
        sscanf(text, "%ld %llu", &number, &start) != 2)
        return 1;
    identity.pid = (int32_t)number;
    identity.start = start;
    *pid = (int)number;
    return !apl_alive(&identity);
}

static void write_holder(int fd)
{
    char text[64];
    apl_identity_t identity;
    int n;

    if (apl_alive_identify(getpid(), &identity) != 0 || ftruncate(fd, 0) != 0)
        return;
    n = snprintf(text, sizeof text, "%d %llu\n", (int)identity.pid,
                 (unsigned long long)identity.start);
    if (pwrite(fd, text, (size_t)n, 0) != n)
        return; /* it is only used in the message above */
}

/* Is the locked file still the one at this path? */
static int same_file(int fd, const char *path)
{
    struct stat a, b;

    return fstat(fd, &a) == 0 && stat(path, &b) == 0 && a.st_ino == b.st_ino &&
           a.st_dev == b.st_dev;
}

/* At their end, the programs of a killed httpd remove the directory. */
static const char *open_lock(apr_pool_t *p, const char *base, const char *path,
                             int *fd)
{
    const char *wrong = NULL;

    while (!wrong) {
        *fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (*fd >= 0)
            return NULL;
        if (errno != ENOENT)
            return apr_psprintf(p, "cannot open %s: %s", path, strerror(errno));
        wrong = apppool_runtime_dir_make(p, base);
    }
    return wrong;
}

const char *apppool_runtime_dir_lock(apr_pool_t *p, const char *base,
                                     apr_interval_time_t limit, int *lock)
{
    const char *path = apr_pstrcat(p, base, "/" CONTRACT_LOCK, NULL), *wrong;
    int64_t until = apl_now() + limit;
    int fd = -1, pid = 0, logged = 0;

    for (;; apr_sleep(WAIT_STEP)) {
        wrong = fd < 0 ? open_lock(p, base, path, &fd) : NULL;
        if (wrong)
            return wrong;
        if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
            if (same_file(fd, path))
                break;
            close(fd);
            fd = -1;
            continue;
        }
        if (!holder_ended(fd, &pid) || apl_now() >= until) {
            close(fd);
            return apr_psprintf(p,
                                "%s is held by another httpd (pid %d): no two "
                                "can have the same AppPoolRuntimeDir",
                                path, pid);
        }
        if (!logged++)
            ap_log_error(APLOG_MARK, APLOG_NOTICE, 0, ap_server_conf,
                         "apppool: waiting until the applications of an httpd "
                         "that was killed (pid %d) have ended",
                         pid);
    }
    write_holder(fd);
    *lock = fd;
    return NULL;
}

int apppool_runtime_dir_is_lost(const char *base, int lock)
{
    char path[CONTRACT_RUNTIME_MAX + 32];
    struct stat st;

    snprintf(path, sizeof path, "%s/" CONTRACT_LOCK, base);
    if (lock >= 0 && stat(path, &st) != 0)
        return errno == ENOENT || errno == ENOTDIR;
    return !same_file(lock, path);
}

/* ---- the end ---- */

int apppool_runtime_dir_has_leftovers(apr_pool_t *p, const char *path,
                                      int below)
{
    struct stat st;

    return lstat(below ? path
                       : apr_pstrcat(p, path, "/" CONTRACT_INSTANCE, NULL),
                 &st) == 0;
}

static void remove_file(const char *directory, const char *name)
{
    char path[CONTRACT_RUNTIME_MAX + 32];

    snprintf(path, sizeof path, "%s/%s", directory, name);
    unlink(path);
}

void apppool_runtime_dir_clear(const char *runtime, int below)
{
    remove_file(runtime, CONTRACT_TABLE ".new");
    remove_file(runtime, CONTRACT_TABLE);
    if (below)
        rmdir(runtime);
}

void apppool_runtime_dir_remove(const char *base)
{
    remove_file(base, CONTRACT_CURRENT);
    remove_file(base, CONTRACT_LOCK);
    /* A directory that the administrator has named stays. */
    if (!strncmp(strrchr(base, '/') + 1, CONTRACT_PREFIX,
                 sizeof CONTRACT_PREFIX - 1))
        rmdir(base);
}
