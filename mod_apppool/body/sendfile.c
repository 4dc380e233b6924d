/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/body/sendfile.h"

#include <apr_strings.h>
#include <errno.h>
#include <fcntl.h>
#include <http_core.h>
#include <http_log.h>
#include <http_protocol.h>
#include <http_request.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mod_apppool/config/sendfile_dirs.h"

APLOG_USE_MODULE(apppool);

#define HEADER "X-Sendfile"

#define SAY(rv, r, ...)                                                        \
    ap_log_rerror(APLOG_MARK, APLOG_ERR, rv, r, "apppool: " __VA_ARGS__)

/* ---- the header ---- */

void apppool_sendfile_offer(request_rec *r)
{
    const apppool_sendfile_t *set = apppool_config_sendfile(r);

    if (set && set->on)
        apr_table_setn(r->headers_in, HEADER "-Type", HEADER);
}

/* Over fcgi and scgi it is among the headers that are kept with an error. */
static const char *header_of(const request_rec *r, const char *name)
{
    const char *value = apr_table_get(r->headers_out, name);

    return value ? value : apr_table_get(r->err_headers_out, name);
}

const char *apppool_sendfile_name(request_rec *r, int error)
{
    const apppool_sendfile_t *set = apppool_config_sendfile(r);
    const char *name;

    if (!set || !set->on)
        return NULL;
    name = header_of(r, HEADER);
    apr_table_unset(r->headers_out, HEADER);
    apr_table_unset(r->err_headers_out, HEADER);
    /* An ErrorDocument may have the status of its error already. */
    return r->status == HTTP_OK || r->status == error ? name : NULL;
}

/* ---- the file ---- */

static int is_below(const char *path, const char *dir)
{
    size_t n = strlen(dir);

    return !strncmp(path, dir, n) && path[n] == '/';
}

/* The owner of a directory above may have put another one in its place since
 * the configuration was read. In that one the app may only name files of its
 * own user. */
static int is_in(const char *path, const apppool_sendfile_dir_t *dir, int own)
{
    char now[PATH_MAX];

    return (dir->real && is_below(path, dir->real)) ||
           (own && realpath(dir->name, now) && is_below(path, now));
}

static int is_allowed(const request_rec *r, const apppool_app_t *app,
                      const char *path, uid_t owner)
{
    const apr_array_header_t *dirs = apppool_config_sendfile(r)->dirs;
    apppool_sendfile_dir_t root = {app->pool.root, app->real_root};
    int own = owner == app->uid, i;

    if (is_in(path, &root, own))
        return 1;
    for (i = 0; i < dirs->nelts; i++)
        if (is_in(path, &APR_ARRAY_IDX(dirs, i, apppool_sendfile_dir_t), own))
            return 1;
    return 0;
}

static int status_of(apr_status_t rv)
{
    return APR_STATUS_IS_ENOENT(rv) || APR_STATUS_IS_ENOTDIR(rv)
               ? HTTP_NOT_FOUND
           : APR_STATUS_IS_EACCES(rv) ? HTTP_FORBIDDEN
                                      : HTTP_INTERNAL_SERVER_ERROR;
}

/* May the file of this descriptor, opened without reading, be sent?
 * @return OK, or HTTP_* */
static int look(request_rec *r, const apppool_app_t *app, const char *name,
                int fd, const char *link)
{
    char path[PATH_MAX];
    ssize_t n = readlink(link, path, sizeof path - 1);
    struct stat st;

    if (n < 0 || fstat(fd, &st) != 0) {
        SAY(errno, r, "%s: " HEADER " %s cannot be checked", app->label, name);
        return HTTP_INTERNAL_SERVER_ERROR;
    }
    path[n] = 0;
    if (!S_ISREG(st.st_mode) || !is_allowed(r, app, path, st.st_uid)) {
        SAY(0, r,
            "%s: " HEADER
            " %s is not a file below AppRoot or a directory of AppSendFile",
            app->label, name);
        return HTTP_FORBIDDEN;
    }
    return OK;
}

/* @return OK, or HTTP_* */
static int open_file(request_rec *r, const apppool_app_t *app, const char *name,
                     apr_file_t **file)
{
    const core_dir_config *core = ap_get_core_module_config(r->per_dir_config);
    apr_int32_t flags = APR_FOPEN_READ | APR_FOPEN_BINARY;
    const char *link;
    apr_status_t rv;
    int status, fd;

    if (core->enable_sendfile == ENABLE_SENDFILE_ON)
        flags |= APR_FOPEN_SENDFILE_ENABLED;
    if (*name != '/')
        name = ap_make_full_path(r->pool, app->pool.root, name);
    fd = open(name, O_PATH | O_CLOEXEC);
    if (fd < 0) {
        rv = errno;
        SAY(rv, r, "%s: " HEADER " %s cannot be opened", app->label, name);
        return status_of(rv);
    }
    link = apr_psprintf(r->pool, "/proc/self/fd/%d", fd);
    status = look(r, app, name, fd, link);
    if (status == OK) {
        rv = apr_file_open(file, link, flags, APR_OS_DEFAULT, r->pool);
        if (rv != APR_SUCCESS) {
            SAY(rv, r, "%s: " HEADER " %s cannot be read", app->label, name);
            status = status_of(rv);
        }
    }
    close(fd);
    return status;
}

/* Set the headers as for any file. The headers of the app are kept. @return OK,
 * or HTTP_* */
static int fit_headers(request_rec *r, apr_file_t *file)
{
    apr_status_t rv = apr_file_info_get(&r->finfo, APR_FINFO_NORM, file);

    if (rv != APR_SUCCESS)
        return HTTP_INTERNAL_SERVER_ERROR;
    r->status_line = NULL;
    ap_set_content_length(r, r->finfo.size);
    ap_set_accept_ranges(r);
    if (!header_of(r, "Last-Modified")) {
        ap_update_mtime(r, r->finfo.mtime);
        ap_set_last_modified(r);
    }
    if (!header_of(r, "ETag"))
        ap_set_etag(r);
    return ap_meets_conditions(r);
}

void apppool_sendfile_replace(request_rec *r, const apppool_app_t *app,
                              const char *name, apr_bucket_brigade *bb)
{
    apr_file_t *file;
    apr_bucket *b;
    int status = open_file(r, app, name, &file);

    apr_brigade_cleanup(bb);
    if (status == OK)
        status = fit_headers(r, file);
    if (status == OK && r->finfo.size > 0) {
        b = apr_brigade_insert_file(bb, file, 0, r->finfo.size, r->pool);
        apr_bucket_file_enable_mmap(b, 0);
    }
    else if (status == HTTP_NOT_MODIFIED)
        r->status = status;
    else if (status != OK)
        APR_BRIGADE_INSERT_TAIL(
            bb,
            ap_bucket_error_create(status, NULL, r->pool, bb->bucket_alloc));
    APR_BRIGADE_INSERT_TAIL(bb, apr_bucket_eos_create(bb->bucket_alloc));
}
