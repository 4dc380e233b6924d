/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/parent/parent.h"

#include <apr_file_io.h>
#include <apr_portable.h>
#include <apr_strings.h>
#include <http_log.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>
#include <unixd.h>

#include "mod_apppool/config/setting.h"
#include "mod_apppool/config/store.h"
#include "mod_apppool/config/error_format.h"
#include "mod_apppool/config/config_report.h"
#include "mod_apppool/config/text_check.h"
#include "base/contract.h"
#include "base/userdb.h"
#include "base/utf8.h"

APLOG_USE_MODULE(apppool);

static json_t *text(const char *s)
{
    return s ? json_string(s) : json_null();
}

/* JSON is UTF-8, and a line of the table has no control characters. The values
 * of our own directives are checked, but names that httpd knows may have any
 * bytes. Without this, one of them would end the table for all apps.
 * @param but control characters that stay */
static json_t *any_text(apr_pool_t *p, const char *s, const char *but)
{
    char *copy = s ? apr_pstrdup(p, s) : NULL, *at = copy;
    apr_size_t n;

    for (; at && *at; at += n ? n : 1) {
        n = utf8_character(at);
        if (n == 0 && !strchr(but, *at))
            *at = '?';
    }
    return text(copy);
}

static json_t *number(apr_int64_t n)
{
    return json_integer((json_int_t)n);
}

static json_t *seconds(apr_int64_t us)
{
    return json_real((double)us / APR_USEC_PER_SEC);
}

static json_t *user(uid_t uid)
{
    return uid == USERDB_NOBODY ? json_null() : number((apr_int64_t)uid);
}

static json_t *variables(apr_pool_t *p, apr_hash_t *env)
{
    json_t *o = json_object();
    apr_hash_index_t *i;

    for (i = env ? apr_hash_first(p, env) : NULL; i; i = apr_hash_next(i))
        json_object_set_new(o, apr_hash_this_key(i),
                            text(apr_hash_this_val(i)));
    return o;
}

/* Soft and hard; -1: no limit. */
static json_t *rlimit(const struct rlimit *limit)
{
    return limit ? json_pack("[I, I]",
                             limit->rlim_cur == RLIM_INFINITY
                                 ? (json_int_t)-1
                                 : (json_int_t)limit->rlim_cur,
                             limit->rlim_max == RLIM_INFINITY
                                 ? (json_int_t)-1
                                 : (json_int_t)limit->rlim_max)
                 : json_null();
}

static json_t *rlimits(const apppool_rlimits_t *limits)
{
    json_t *o = json_object();

    json_object_set_new(o, "cpu", rlimit(limits->cpu));
    json_object_set_new(o, "mem", rlimit(limits->mem));
    json_object_set_new(o, "nproc", rlimit(limits->nproc));
    return o;
}

/* The value of a directive. */
static json_t *value(apr_pool_t *p, const apppool_setting_t *s,
                     const apppool_app_t *app)
{
    apr_int64_t n;

    if (apppool_setting_is_text(s))
        return text(apppool_setting_text(s, app));
    n = apppool_setting_number(s, app);
    switch (s->kind) {
    case SETTINGS_SWITCH:
    case SETTINGS_PAIR:
        return json_boolean(n);
    case SETTINGS_TIME:
        return seconds(n);
    case SETTINGS_WORD:
        return text(apppool_setting_word(p, s, n));
    default:
        return number(n);
    }
}

static void set_values(json_t *j, apr_pool_t *p, const apppool_app_t *app)
{
    int i;

    for (i = 0; i < APPPOOL_SETTINGS; i++)
        if (apppool_settings[i].key)
            json_object_set_new(j, apppool_settings[i].key,
                                value(p, &apppool_settings[i], app));
}

/* @return the descriptor, or -1 */
static int look(apr_file_t *log, struct stat *st)
{
    apr_os_file_t fd;

    return log && apr_os_file_get(&fd, log) == APR_SUCCESS && fstat(fd, st) == 0
               ? fd
               : -1;
}

/* @return NULL: the server has no error log of its own that can be written. One
 * file may have two names, such as /dev/stderr and /proc/self/fd/2 in a
 * container. */
static const char *log_of_host(apr_pool_t *p, const server_rec *s,
                               const server_rec *main_server)
{
    struct stat st, main_st;
    int fd;

    if (!s->error_fname || s == main_server)
        return NULL;
    if (!strncasecmp(s->error_fname, "syslog", 6))
        return apr_pstrcat(p, "=", s->error_fname, NULL);
    fd = look(s->error_log, &st);
    if (fd < 0 || (look(main_server->error_log, &main_st) >= 0 &&
                   st.st_dev == main_st.st_dev && st.st_ino == main_st.st_ino))
        return NULL;
    return apr_psprintf(
        p, "=/proc/%d/fd/%d %" APR_UINT64_T_FMT ":%" APR_UINT64_T_FMT,
        (int)getpid(), fd, (apr_uint64_t)st.st_dev, (apr_uint64_t)st.st_ino);
}

/* Where the output of an app goes (spawner/output/log_program.c): AppLog, or
 * the ErrorLog of its virtual host. The route of that is the descriptor that
 * this process has open. So the lines go to the same file or pipe that httpd
 * writes to, until the next graceful restart. @return NULL: to the error log of
 * the main server */
static const char *log_route(apr_pool_t *p, const apppool_app_t *app,
                             const server_rec *main_server)
{
    return app->set->log ? app->set->log
                         : log_of_host(p, app->server, main_server);
}

/* Most configurations have none. */
static void set_error_format(json_t *j, apr_pool_t *p, const server_rec *s,
                             const server_rec *main_server)
{
    const char *format = apppool_error_format(p, s, main_server);

    if (format)
        json_object_set_new(j, "error_format", text(format));
}

static json_t *describe_app(apr_pool_t *p, const apppool_app_t *app,
                            const char *runtime, const server_rec *main_server)
{
    const apl_options_t *o = &app->pool.options;
    json_t *j = json_object();

    set_values(j, p, app);
    json_object_set_new(j, "name", text(app->pool.name));
    json_object_set_new(j, "label", text(app->label));
    json_object_set_new(j, "root", text(app->pool.root));
    json_object_set_new(j, "user", text(app->set->user));
    json_object_set_new(j, "group", text(app->set->user_group));
    json_object_set_new(j, "user_name", any_text(p, app->user_name, ""));
    json_object_set_new(j, "owner", user(app->owner));
    json_object_set_new(j, "uid", user(app->uid));
    json_object_set_new(j, "env", variables(p, app->set->env));
    json_object_set_new(j, "store_env",
                        variables(p, apppool_store_variables(p, app, runtime)));
    json_object_set_new(j, "restart_dir", text(app->restart_dir));
    json_object_set_new(j, "log",
                        any_text(p, log_route(p, app, main_server), ""));
    set_error_format(j, p, app->server, main_server);
    json_object_set_new(j, "base_uri", text(app->base_uri));
    json_object_set_new(j, "ready", text(app->ready));
    json_object_set_new(j, "host", text(app->host));
    json_object_set_new(j, "concurrency",
                        o->concurrency == APL_CONCURRENCY_AUTO
                            ? json_null()
                            : number(o->concurrency));
    json_object_set_new(j, "unkillable_stop", number(o->unkillable_stop));
    json_object_set_new(j, "preload", number(app->preload));
    json_object_set_new(j, "rlimits", rlimits(&app->rlimits));
    json_object_set_new(j, "directives",
                        any_text(p, apppool_config_report(p, app), "\t\n"));
    return j;
}

/* The main server's error log. If that is not a file with a name, or with one
 * that is no text, httpd's stderr: it leads to the current logger, while the
 * stderr that the helper programs have inherited leads to the logger of an
 * earlier configuration. */
static const char *error_log(apr_pool_t *p, const server_rec *s)
{
    const char *name = s->error_fname;

    if (!name || *name == '|' || !strncmp(name, "syslog", 6) ||
        !strncmp(name, "/dev/", 5) || !strncmp(name, "/proc/", 6) ||
        !apppool_text_check_is_text(ap_server_root_relative(p, name)))
        return apr_psprintf(p, "/proc/%d/fd/2", (int)getpid());
    return ap_server_root_relative(p, name);
}

static json_t *capacity(const apl_capacity_t *n)
{
    json_t *j = json_object();

    json_object_set_new(j, "groups", number(n->groups));
    json_object_set_new(j, "processes", number(n->processes));
    json_object_set_new(j, "sessions", number(n->sessions));
    json_object_set_new(j, "children", number(n->children));
    return j;
}

static json_t *describe(const apppool_app_table_t *table, server_rec *s,
                        apr_pool_t *p)
{
    apppool_server_t server = apppool_config_server(s);
    json_t *j = json_object();
    int root = geteuid() == 0;

    json_object_set_new(j, "version", number(2));
    json_object_set_new(j, "config", number(table->generation));
    json_object_set_new(
        j, "instance", text(apr_psprintf(p, CONTRACT_ID_FMT, table->instance)));
    json_object_set_new(j, "capacity", capacity(&table->capacity));
    json_object_set_new(j, "httpd_uid",
                        number(root ? ap_unixd_config.user_id : geteuid()));
    json_object_set_new(j, "httpd_gid",
                        number(root ? ap_unixd_config.group_id : getegid()));
    json_object_set_new(j, "error_log", text(error_log(p, s)));
    set_error_format(j, p, s, s);
    json_object_set_new(
        j, "log_level",
        number(ap_get_server_module_loglevel(s, APLOG_MODULE_INDEX)));
    json_object_set_new(j, "max_pool_size", number(server.max_pool_size));
    json_object_set_new(j, "apps", number(apppool_app_all()->nelts));
    return j;
}

/* ---- the file ---- */

typedef struct {
    apr_file_t *file;
    apr_status_t rv; /* of the first write that failed */
} lines_t;

static int write_some(const char *data, size_t n, void *lines_)
{
    lines_t *lines = lines_;

    lines->rv = apr_file_write_full(lines->file, data, n, NULL);
    return lines->rv == APR_SUCCESS ? 0 : -1;
}

/* @param document is freed */
static void write_line(lines_t *lines, json_t *document)
{
    if (lines->rv == APR_SUCCESS &&
        (json_dump_callback(document, write_some, lines, 0) != 0 ||
         write_some("\n", 1, lines) != 0) &&
        lines->rv == APR_SUCCESS)
        lines->rv = APR_ENOMEM; /* nothing was wrong with the file */
    json_decref(document);
}

/* A document for the table itself, and one for each application. So the memory
 * of one is enough for all of them, here and in the spawner. */
static apr_status_t write_lines(apr_file_t *file,
                                const apppool_app_table_t *table, server_rec *s,
                                apr_pool_t *p)
{
    const apr_array_header_t *apps = apppool_app_all();
    lines_t lines = {file, APR_SUCCESS};
    apr_pool_t *scratch;
    int i;

    write_line(&lines, describe(table, s, p));
    apr_pool_create(&scratch, p);
    for (i = 0; i < apps->nelts && lines.rv == APR_SUCCESS; i++) {
        const apppool_app_t *app = APR_ARRAY_IDX(apps, i, apppool_app_t *);

        write_line(&lines, describe_app(scratch, app, table->runtime, s));
        apr_pool_clear(scratch);
    }
    apr_pool_destroy(scratch);
    return lines.rv == APR_SUCCESS ? apr_file_flush(file) : lines.rv;
}

apr_status_t apppool_app_table_write(const apppool_app_table_t *table,
                                     server_rec *main_server, apr_pool_t *p)
{
    char *path = apr_pstrcat(p, table->runtime, "/" CONTRACT_TABLE, NULL);
    char *beside = apr_pstrcat(p, path, ".new", NULL);
    apr_file_t *file;
    apr_status_t rv, closed;

    apr_file_remove(beside, p);
    rv = apr_file_open(&file, beside,
                       APR_FOPEN_WRITE | APR_FOPEN_CREATE | APR_FOPEN_EXCL |
                           APR_FOPEN_BUFFERED,
                       APR_FPROT_UREAD | APR_FPROT_UWRITE, p);
    if (rv != APR_SUCCESS)
        return rv;
    rv = write_lines(file, table, main_server, p);
    closed = apr_file_close(file);
    if (rv == APR_SUCCESS)
        rv = closed;
    return rv == APR_SUCCESS ? apr_file_rename(beside, path, p) : rv;
}
