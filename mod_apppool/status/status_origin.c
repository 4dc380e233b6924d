/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/status/status.h"

#include <apr_errno.h>
#include <apr_strings.h>
#include <http_core.h>
#include <http_log.h>
#include <http_request.h>
#include <string.h>

#include "mod_apppool/config/config.h"

APLOG_USE_MODULE(apppool);

#define LOOKS_UP "apppool-looks-up" /* a note */

/* httpd's notes of its walks: AP_NOTE_DIRECTORY_WALK and others. */
#define WALKS    (AP_NOTE_IF_WALK + 1)

/* What a request has found in .htaccess, which its subrequests would use. */
typedef struct {
    const struct htaccess_result *files;
    void *walks[WALKS];
} found_t;

apr_status_t apppool_status_origin_open_htaccess(request_rec *r,
                                                 const char *directory,
                                                 const char *name,
                                                 ap_configfile_t **file,
                                                 const char **path)
{
    (void)directory;
    (void)name;
    (void)file;
    (void)path;
    for (r = r->main; r; r = r->main)
        if (apr_table_get(r->notes, LOOKS_UP))
            return APR_ENOENT;
    return AP_DECLINED;
}

static found_t exchange(request_rec *r, const found_t *with)
{
    found_t found = {r->htaccess, {NULL}};
    apr_size_t i;

    r->htaccess = with->files;
    for (i = 0; i < WALKS; i++) {
        void **walk = ap_get_request_note(r, i);

        found.walks[i] = *walk;
        *walk = with->walks[i];
    }
    return found;
}

static request_rec *look_up(request_rec *r)
{
    static const found_t nothing;
    const found_t found = exchange(r, &nothing);
    const char *args = r->args ? r->args : "";
    request_rec *within;

    apr_table_setn(r->notes, LOOKS_UP, "");
    within = ap_sub_req_method_uri(r->method,
                                   apr_pstrcat(r->pool,
                                               ap_escape_uri(r->pool, r->uri),
                                               *args ? "?" : "", args, NULL),
                                   r, NULL);
    apr_table_unset(r->notes, LOOKS_UP);
    exchange(r, &found);
    return within;
}

/* httpd takes a type for a handler, without its parameters. */
static int has_handler(const request_rec *r, const char *handler)
{
    const char *given = r->handler ? r->handler : r->content_type;
    size_t n = strlen(handler);

    return given && !strncmp(given, handler, n) &&
           (!given[n] || (!r->handler && strchr("; ", given[n])));
}

int apppool_status_origin_check(request_rec *r)
{
    request_rec *within;
    int same;

    if (r->uri[0] != '/') /* a subrequest by file name */
        return HTTP_FORBIDDEN;
    within = look_up(r);
    same = within->status == HTTP_OK && has_handler(within, r->handler);
    ap_destroy_sub_req(within);
    if (same)
        return OK;
    ap_log_rerror(APLOG_MARK, APLOG_ERR, 0, r,
                  "apppool: %s does not get the handler %s: without .htaccess, "
                  "the configuration does not give it to this URL",
                  r->uri, r->handler);
    return HTTP_FORBIDDEN;
}
