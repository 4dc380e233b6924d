/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/request/cgi_variables.h"

#include <apr_strings.h>
#include <http_core.h>
#include <util_script.h>

#include "mod_apppool/config/php_rule.h"
#include "mod_apppool/request/app_headers.h"
#include "mod_apppool/request/front_controller.h"

#define RUNS "apppool-runs" /* a note: a script that may be run */

/* The variables that the app gets. */
typedef struct {
    char *name, *path_info, *filename;
} parts_t;

/* ---- PHP ---- */

int apppool_cgi_variables_is_script(const request_rec *r,
                                    const apppool_mount_t *mount,
                                    const char *filename)
{
    return (mount->app->protocol == APL_FCGI ||
            mount->app->protocol == APL_AUTO) &&
           r->finfo.filetype == APR_REG && filename &&
           apppool_php_rule_suffix(filename) >= 0;
}

const char *apppool_cgi_variables_place(request_rec *r, const char *base_uri,
                                        const char *filename)
{
    const char *prefix = ap_context_prefix(r);
    size_t n = strlen(base_uri);

    if (!filename || *filename != '/')
        return NULL;
    if (n == 0)
        return ap_document_root(r);
    /* Alias /shop /srv/shop/public */
    return !strncmp(prefix, base_uri, n) &&
                   (!prefix[n] || !strcmp(prefix + n, "/"))
               ? ap_context_document_root(r)
               : NULL;
}

const char *apppool_cgi_variables_documents(request_rec *r,
                                            const apppool_mount_t *mount)
{
    if (mount->section && !*mount->base_uri)
        return mount->directory;
    return apppool_cgi_variables_place(r, mount->base_uri, r->filename);
}

static int is_below(const char *filename, const char *directory)
{
    size_t n = directory ? strlen(directory) : 0;

    while (n > 0 && directory[n - 1] == '/')
        n--;
    return n > 0 && !strncmp(filename, directory, n) && filename[n] == '/';
}

static int is_in_place(request_rec *r, const apppool_mount_t *mount,
                       const char *filename)
{
    const char *base_uri = mount->base_uri;

    if (*base_uri &&
        is_below(filename, apppool_cgi_variables_place(r, base_uri, filename)))
        return 1;
    /* A directory of UserDir belongs to its user, wherever it is. */
    return strncmp(ap_context_prefix(r), "/~", 2) &&
           (is_below(filename, mount->app->pool.root) ||
            is_below(filename, ap_document_root(r)));
}

/* mod_dir and mod_negotiation look a script up by a subrequest, which the
 * request then becomes. It keeps the prefix of its first URL, but it gets the
 * notes. */
int apppool_cgi_variables_may_run(request_rec *r, const apppool_mount_t *mount,
                                  const char *filename)
{
    const char *known = apr_table_get(r->notes, RUNS);

    if (known && !strcmp(known, filename))
        return 1;
    if (!is_in_place(r, mount, filename))
        return 0;
    apr_table_setn(r->notes, RUNS, apr_pstrdup(r->pool, filename));
    return 1;
}

/* @return 0: it is not PHP */
static int find_php(request_rec *r, const apppool_mount_t *mount,
                    uint64_t process, const char *filename, parts_t *parts)
{
    const char *name, *path;

    if (apppool_cgi_variables_is_script(r, mount, filename) &&
        apppool_cgi_variables_may_run(r, mount, filename)) {
        const char *more = r->path_info ? r->path_info : "";

        parts->filename = apr_pstrdup(r->pool, filename);
        parts->path_info = apr_pstrdup(r->pool, more);
        parts->name =
            *more ? apr_pstrndup(r->pool, r->uri,
                                 (apr_size_t)ap_find_path_info(r->uri, more))
                  : apr_pstrdup(r->pool, r->uri);
        return 1;
    }
    parts->filename = apppool_front_controller_find(
        r, mount, process,
        apppool_cgi_variables_place(r, mount->base_uri, filename), &name);
    if (!parts->filename)
        return 0;
    parts->name = apr_pstrcat(r->pool, mount->base_uri, name, NULL);
    path = apppool_app_headers_path(r, mount->base_uri);
    parts->path_info = apr_pstrdup(r->pool, strcmp(path, "/") ? path : "");
    return 1;
}

/* ---- all others ---- */

static void find_parts(request_rec *r, const apppool_mount_t *mount,
                       const apl_session_ref_t *ref, const char *filename,
                       parts_t *parts)
{
    uint32_t protocol = ref->wire.protocol;

    if (protocol == APL_FCGI && find_php(r, mount, ref->id, filename, parts))
        return;
    parts->filename = apr_pstrdup(r->pool, mount->app->pool.root);
    parts->path_info =
        apr_pstrdup(r->pool, apppool_app_headers_path(r, mount->stripped));
    parts->name = apr_pstrdup(r->pool, mount->stripped);
}

void apppool_cgi_variables_set(request_rec *r, const apppool_mount_t *mount,
                               const apl_session_ref_t *ref,
                               const char *filename,
                               apppool_cgi_variables_t *own)
{
    const char *secret = apr_table_get(r->headers_in, "Authorization");
    parts_t parts;

    find_parts(r, mount, ref, filename, &parts);
    own->uri = r->uri;
    own->path_info = r->path_info;
    own->filename = r->filename;
    r->uri = parts.name;
    r->filename = parts.filename;
    r->path_info = NULL;
    if (*parts.path_info)
        apr_table_setn(r->subprocess_env, "PATH_INFO", parts.path_info);
    else
        apr_table_unset(r->subprocess_env, "PATH_INFO");
    /* The app gets the same as over http. */
    if (secret)
        apr_table_setn(r->subprocess_env, "HTTP_AUTHORIZATION", secret);
}

void apppool_cgi_variables_restore(request_rec *r,
                                   const apppool_cgi_variables_t *own)
{
    r->uri = own->uri;
    r->path_info = own->path_info;
    r->filename = own->filename;
}
