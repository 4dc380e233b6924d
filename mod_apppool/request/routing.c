/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/request/routing.h"

#include <apr_strings.h>
#include <http_core.h>
#include <http_log.h>
#include <http_protocol.h>
#include <http_request.h>
#include <string.h>

#include "mod_apppool/config/app.h"
#include "mod_apppool/request/document_root.h"
#include "mod_apppool/request/front_controller.h"
#include "mod_apppool/request/response_count.h"
#include "mod_apppool/request/script_handler.h"
#include "mod_apppool/request/untrusted_headers.h"
#include "mod_apppool/request/cgi_variables.h"

APLOG_USE_MODULE(apppool);

#define NO_FILE "apppool:" /* r->filename of a request that names no file */

/* mod_dir asks for each name of DirectoryIndex in turn, by a subrequest. If the
 * name does not exist, the subrequest ends here, unless mod_negotiation may
 * find a file of another name. */
static int is_missing_index(const request_rec *r)
{
    const request_rec *directory = r->main;
    const char *name;
    apr_finfo_t found;
    size_t n;

    if (!directory || !directory->filename ||
        directory->finfo.filetype != APR_DIR ||
        (ap_allow_options((request_rec *)directory) & OPT_MULTI))
        return 0;
    n = strlen(directory->uri);
    name = r->uri + n;
    return n > 0 && directory->uri[n - 1] == '/' &&
           !strncmp(r->uri, directory->uri, n) && !ap_strchr_c(name, '/') &&
           apr_stat(&found,
                    ap_make_full_path(r->pool, directory->filename, name),
                    APR_FINFO_TYPE, r->pool) != APR_SUCCESS;
}

int apppool_routing_translate(request_rec *r)
{
    const apppool_mount_t *mount = apppool_config_mount(r);

    if (!mount || r->proxyreq || r->uri[0] != '/')
        return DECLINED;
    if (is_missing_index(r))
        return HTTP_NOT_FOUND;
    if (mount->section)
        apppool_document_root_note(r);
    if (mount->server != r->server || apppool_config_mount_has_files(mount))
        return DECLINED;
    r->filename = apr_pstrcat(r->pool, NO_FILE, r->uri, NULL);
    return OK;
}

int apppool_routing_map_to_storage(request_rec *r)
{
    /* httpd serves TRACE, as TraceEnable says. */
    if (!r->filename || strncmp(r->filename, NO_FILE, sizeof NO_FILE - 1) ||
        r->method_number == M_TRACE)
        return DECLINED;
    return OK;
}

/* httpd knows all sections now, and has not run a rule of access or a rewrite
 * rule of a section. */
int apppool_routing_post_perdir_config(request_rec *r)
{
    if (apppool_config_mount(r) && !r->proxyreq)
        apppool_untrusted_headers_remove_early(r);
    return DECLINED;
}

/* Does httpd serve this file without a handler? */
static int is_plain(const request_rec *r)
{
    static const char magic[] = "application/x-httpd-"; /* AddType's handlers */

    return !r->handler && !(r->content_type &&
                            !strncmp(r->content_type, magic, sizeof magic - 1));
}

/* Is there a file, and can httpd serve this method for it? */
static int is_file(const request_rec *r)
{
    return r->finfo.filetype == APR_REG && !(r->path_info && *r->path_info) &&
           (r->method_number == M_GET || !is_plain(r));
}

static int is_ours(const char *handler)
{
    return handler && !strcmp(handler, APPPOOL_HANDLER);
}

/* Does the configuration say that the application serves this? httpd takes a
 * type for a handler if there is none. mod_rewrite notes the handler and the
 * type of a rule, and sets them after RequestHeader. */
static int is_given(const request_rec *r)
{
    return is_ours(r->handler ? r->handler : r->content_type) ||
           is_ours(apr_table_get(r->notes, "rewrite-forced-handler")) ||
           is_ours(apr_table_get(r->notes, "rewrite-forced-mimetype"));
}

/* Does the application serve this, as far as it is known now? */
static int is_for_app(const request_rec *r, const apppool_mount_t *mount)
{
    if (r->proxyreq)
        return 0;
    if (is_given(r))
        return 1;
    if (r->handler && strcmp(r->handler, DIR_MAGIC_TYPE))
        return 0;
    return !is_file(r) ||
           apppool_cgi_variables_is_script(r, mount, r->filename);
}

/* Find out what a GET of the directory, with a slash, would find. */
typedef enum { NO_INDEX, PLAIN_INDEX, SCRIPT_INDEX } index_t;

static index_t find_index(request_rec *r, const char *slash)
{
    index_t found = NO_INDEX;
    request_rec *within = ap_sub_req_lookup_uri(
        apr_pstrcat(r->pool, ap_escape_uri(r->pool, r->uri), slash, NULL), r,
        NULL);

    if (within->status == HTTP_OK && within->finfo.filetype == APR_REG)
        found = is_plain(within) ? PLAIN_INDEX : SCRIPT_INDEX;
    else if (ap_is_HTTP_REDIRECT(within->status)) /* DirectoryIndexRedirect */
        found = PLAIN_INDEX;
    ap_destroy_sub_req(within);
    return found;
}

/* Is there an index.php for PHP? It is one whether DirectoryIndex names it or
 * not. */
static int has_own_index(request_rec *r, const apppool_mount_t *mount)
{
    apr_finfo_t found;

    return !r->main && r->finfo.filetype == APR_DIR && r->filename &&
           !(r->path_info && *r->path_info) &&
           apppool_script_handler_speaks_fcgi(r, mount->app) &&
           apr_stat(&found,
                    ap_make_full_path(r->pool, r->filename, "index.php"),
                    APR_FINFO_TYPE, r->pool) == APR_SUCCESS &&
           found.filetype == APR_REG;
}

/* Become the request for index.php, as mod_dir does for its indexes.
 * @return OK, or the status of a client that may not have it */
static int use_own_index(request_rec *r)
{
    request_rec *index = ap_sub_req_lookup_uri("index.php", r, NULL);
    int status = index->status;

    if (status == HTTP_OK && index->finfo.filetype == APR_REG) {
        index->args = r->args;
        ap_internal_fast_redirect(index, r);
        return OK;
    }
    ap_destroy_sub_req(index);
    return status == HTTP_UNAUTHORIZED || status == HTTP_FORBIDDEN ? status
                                                                   : OK;
}

/* Does mod_dir get this directory? It looks for an index, which has to take the
 * method. Or it adds a slash to the URL, which loses a form that was sent. */
static int is_for_mod_dir(request_rec *r, const apppool_mount_t *mount)
{
    size_t n = strlen(r->uri);
    int slash = n > 0 && r->uri[n - 1] == '/';

    if (r->path_info && *r->path_info)
        return 0;
    if (r->method_number == M_GET)
        return slash || find_index(r, "/") != NO_INDEX ||
               has_own_index(r, mount);
    if (!slash)
        return 0;
    switch (find_index(r, "")) {
    case SCRIPT_INDEX:
        return 1;
    case NO_INDEX:
        return has_own_index(r, mount);
    default:
        return 0;
    }
}

int apppool_routing_before_index(request_rec *r)
{
    const apppool_mount_t *mount = apppool_config_mount(r);

    if (!mount || r->uri[0] != '/')
        return DECLINED;
    apppool_script_handler_settle(r, mount);
    if (!is_for_app(r, mount))
        apppool_untrusted_headers_restore(r);
    else if (r->finfo.filetype == APR_DIR && !is_for_mod_dir(r, mount)) {
        r->handler = DIR_MAGIC_TYPE; /* not for FallbackResource either */
        r->finfo.filetype = APR_NOFILE;
    }
    return DECLINED;
}

/* An application is no tunnel. */
static int refuse_method(request_rec *r)
{
    ap_allow_standard_methods(r, REPLACE_ALLOW, M_GET, M_POST, M_PUT, M_DELETE,
                              M_PATCH, M_OPTIONS, -1);
    return HTTP_METHOD_NOT_ALLOWED;
}

static int refuse_script(request_rec *r, const apppool_mount_t *mount)
{
    ap_log_rerror(APLOG_MARK, APLOG_ERR, 0, r,
                  "apppool: %s is not run by %s: it is neither below "
                  "DocumentRoot nor below AppRoot %s",
                  r->filename, mount->app->label, mount->app->pool.root);
    return HTTP_FORBIDDEN;
}

/* Is it a path of PHP that no script gets? */
static int has_no_script(request_rec *r, const apppool_mount_t *mount)
{
    return apppool_front_controller_concerns(r) &&
           !apppool_cgi_variables_is_script(r, mount, r->filename) &&
           apppool_script_handler_speaks_fcgi(r, mount->app) &&
           apppool_front_controller_refuses(
               r, mount,
               apppool_cgi_variables_place(r, mount->base_uri, r->filename));
}

int apppool_routing_admit(request_rec *r, const apppool_mount_t *mount)
{
    /* A subrequest by file name, of mod_include for example, has no URL that
     * the application could be asked for. */
    if (r->uri[0] != '/')
        return HTTP_FORBIDDEN;
    if (r->method_number == M_CONNECT)
        return refuse_method(r);
    if (apppool_cgi_variables_is_script(r, mount, r->filename) &&
        !apppool_cgi_variables_may_run(r, mount, r->filename))
        return refuse_script(r, mount);
    if (apppool_script_handler_admit(r, mount) != OK)
        return HTTP_FORBIDDEN;
    if (has_no_script(r, mount))
        return HTTP_NOT_FOUND;
    apppool_untrusted_headers_remove(r);
    return OK;
}

int apppool_routing_fixups(request_rec *r)
{
    const apppool_mount_t *mount = apppool_config_mount(r);
    int status;

    if (mount && !r->proxyreq && r->uri[0] != '/')
        return apppool_cgi_variables_is_script(r, mount, r->filename)
                   ? HTTP_FORBIDDEN
                   : DECLINED;
    if (mount && is_for_app(r, mount) && r->uri[strlen(r->uri) - 1] == '/' &&
        has_own_index(r, mount)) {
        status = use_own_index(r);
        if (status != OK)
            return status;
        mount = apppool_config_mount(r);
    }
    /* A directory was the app's, but another index is found by now. */
    if (!mount || !is_for_app(r, mount)) {
        apppool_untrusted_headers_restore(r);
        return DECLINED;
    }
    apppool_response_count_begin(r, mount->app);
    apppool_untrusted_headers_remove_early(r);
    status = apppool_routing_admit(r, mount);
    r->handler = APPPOOL_HANDLER; /* what it was has been looked at */
    return status;
}
