/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/config/checks.h"

#include <apr_strings.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <http_core.h>
#include <http_log.h>
#include <mpm_common.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <unixd.h>

#include "mod_apppool/config/app.h"
#include "detect/detect.h"
#include "detect/detect_line.h"

APLOG_USE_MODULE(apppool);

#define SAY(...)                                                               \
    ap_log_error(APLOG_MARK, APLOG_STARTUP | APLOG_WARNING, 0, NULL,           \
                 "apppool: " __VA_ARGS__)

/* ---- as another user ---- */

/* What the process was before. */
typedef struct {
    gid_t *groups;
    int n;
    gid_t gid;
} access_t;

/* Become root again. */
static void access_end(access_t *was)
{
    if (!was->groups)
        return;
    /* httpd -t does nothing else afterwards, and began as root. */
    if (seteuid(0) != 0 || setegid(was->gid) != 0 ||
        setgroups((size_t)was->n, was->groups) != 0)
        abort();
    free(was->groups);
    was->groups = NULL;
}

/* Become this user, with the groups of this account; the whole process, which
 * has one thread. @return 0: not possible */
static int access_begin(access_t *was, const char *name, uid_t uid, gid_t gid)
{
    memset(was, 0, sizeof *was);
    if (geteuid() != 0)
        return geteuid() == uid;
    was->gid = getegid();
    was->n = getgroups(0, NULL);
    was->groups = calloc((size_t)(was->n > 0 ? was->n : 1), sizeof(gid_t));
    if (!was->groups)
        return 0;
    if (was->n >= 0 && getgroups(was->n, was->groups) == was->n &&
        (name ? initgroups(name, gid) : setgroups(1, &gid)) == 0 &&
        setegid(gid) == 0 && seteuid(uid) == 0)
        return 1;
    access_end(was);
    return 0;
}

/* May the process not enter it? */
static int is_closed(const char *path)
{
    return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) != 0 && errno == EACCES;
}

/* What keeps the process from entering a directory. @return NULL: it may enter,
 * or the reason is another one; or the first directory of the path that it may
 * not enter, made from `path` */
static char *barrier(char *path)
{
    char *slash;

    if (!is_closed(path))
        return NULL;
    for (slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        if (is_closed(path))
            return path;
        *slash = '/';
    }
    return path;
}

/* ---- an app ---- */

static void look_for_command(const apppool_app_t *app)
{
    detect_config_t config = {.protocol = (uint32_t)app->protocol};
    detect_found_t names;

    if (app->set->command || chdir(app->pool.root) != 0)
        return;
    if (!detect_names(&config, &names))
        SAY("%s (%s): there is nothing to run: %s; AppCommand names any other "
            "command",
            app->pool.root, app->place, names.why);
}

/* What the log says again at the first start. A command that is found in the
 * files is known only then. */
static void look_at_command(const apppool_app_t *app)
{
    detect_notes_t notes;
    int i;

    if (!app->set->command)
        return;
    detect_line_judge(app->set->command, (uint32_t)app->listen,
                      strcmp(app->environment, "production") == 0, &notes);
    for (i = 0; i < notes.n; i++)
        SAY("%s (%s): AppCommand: %s", app->pool.root, app->place,
            notes.text[i]);
}

static void look_at_env_file(const apppool_app_t *app)
{
    const char *path = app->set->env_file;
    struct stat st;

    if (!path)
        return;
    if (stat(path, &st) != 0)
        SAY("%s (%s): AppEnvFile %s cannot be used: %s; the application does "
            "not start without it",
            app->pool.root, app->place, path, strerror(errno));
    else if (!S_ISREG(st.st_mode))
        SAY("%s (%s): AppEnvFile %s is not a plain file", app->pool.root,
            app->place, path);
    else if (st.st_mode & 022)
        SAY("%s (%s): AppEnvFile %s may be written by others than its owner "
            "(mode %03o): chmod go-w",
            app->pool.root, app->place, path, (unsigned)st.st_mode & 0777);
}

/* The file itself is made when the application prints its first line. */
static void look_at_log(apr_pool_t *p, const apppool_app_t *app)
{
    const char *path = app->set->log;
    struct stat st;
    char *dir;
    int error;

    if (!path || *path != '/')
        return;
    dir = apr_pstrndup(p, path, (apr_size_t)(strrchr(path, '/') - path));
    error = stat(*dir ? dir : "/", &st) != 0 ? errno
            : S_ISDIR(st.st_mode) ? 0
                                  : ENOTDIR;
    if (error)
        SAY("%s (%s): the directory of AppLog %s cannot be used: %s; what the "
            "application prints goes to the error log",
            app->pool.root, app->place, path, strerror(error));
    else if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        SAY("%s (%s): AppLog %s is a directory", app->pool.root, app->place,
            path);
}

/* ---- DocumentRoot ---- */

static void look_at_documents(apr_pool_t *p, const apppool_mount_t *mount,
                              apr_hash_t *seen)
{
    const core_server_config *core =
        ap_get_core_module_config(mount->server->module_config);
    const char *documents = core->ap_document_root,
               *user = ap_unixd_config.user_name;
    char *closed;

    if (!documents || !apppool_config_mount_has_files(mount) ||
        apr_hash_get(seen, documents, APR_HASH_KEY_STRING))
        return;
    apr_hash_set(seen, documents, APR_HASH_KEY_STRING, documents);
    closed = barrier(apr_pstrdup(p, documents));
    if (closed)
        SAY("%s (%s): DocumentRoot %s: all requests get 403, because the user "
            "of httpd, %s, may not enter %s: allow it, for example by setfacl "
            "-m u:%s:x %s",
            mount->app->pool.root, mount->place, documents, user, closed, user,
            closed);
}

/* The user is changed once for all of them. */
static void look_at_all_documents(apr_pool_t *p)
{
    const apr_array_header_t *mounts = apppool_config()->mounts;
    apr_hash_t *seen = apr_hash_make(p);
    access_t was;
    int i;

    if (!access_begin(&was, ap_unixd_config.user_name, ap_unixd_config.user_id,
                      ap_unixd_config.group_id))
        return;
    for (i = 0; i < mounts->nelts; i++)
        look_at_documents(p, APR_ARRAY_IDX(mounts, i, apppool_mount_t *), seen);
    access_end(&was);
}

/* ---- the PidFile ---- */

/* At a reload, httpd writes it again, and ends if it cannot. The file that is
 * tried has no name.
 * @return 0: it has no room */
static int look_at_pid_file(apr_pool_t *p)
{
    const char *path =
        ap_pid_fname ? ap_runtime_dir_relative(p, ap_pid_fname) : NULL;
    const char *dir = path ? ap_make_dirstr_parent(p, path) : NULL;
    int full, fd = dir ? open(dir, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600) : -1;

    if (!dir)
        return 1;
    errno = fd < 0 || write(fd, "\n", 1) < 0 ? errno : 0;
    full = errno == ENOSPC || errno == EDQUOT;
    if (full)
        ap_log_error(APLOG_MARK, APLOG_STARTUP | APLOG_ERR, 0, NULL,
                     "apppool: %.*s has no room for the PidFile: %s; a reload "
                     "would end httpd, and with it all applications",
                     (int)strlen(dir) - 1, dir, strerror(errno));
    if (fd >= 0)
        close(fd);
    return !full;
}

int apppool_config_test(apr_pool_t *p)
{
    int i, here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const apr_array_header_t *apps = apppool_app_all();

    if (here < 0)
        return 1;
    for (i = 0; i < apps->nelts; i++) {
        const apppool_app_t *app = APR_ARRAY_IDX(apps, i, apppool_app_t *);

        if (app->real_root)
            look_for_command(app);
        look_at_command(app);
        look_at_env_file(app);
        look_at_log(p, app);
    }
    if (fchdir(here) != 0)
        SAY("httpd -t cannot return to its directory: %s", strerror(errno));
    close(here);
    apppool_workers_warn_room(apps);
    look_at_all_documents(p);
    return look_at_pid_file(p);
}
