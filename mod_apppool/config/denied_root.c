/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/config/checks.h"

#include <apr_strings.h>
#include <http_core.h>
#include <http_log.h>
#include <string.h>
#include <unistd.h>

#include "mod_apppool/config/app.h"
#include "mod_apppool/config/section.h"
#include "mod_apppool/config/warning.h"

APLOG_USE_MODULE(apppool);

/* The section that decides about a directory. */
typedef struct {
    apr_pool_t *p;
    const char *path;           /* of the directory */
    const char *base_uri;       /* of the URLs that lead there */
    const ap_directive_t *best; /* the longest <Directory> that says Require */
    size_t length;              /* of its path */
    int unsure;                 /* something else may decide */
} search_t;

/* ---- what a section says ---- */

/* How many Require directives are in it? *last is one of them. */
static int count_requires(const ap_directive_t *d, const ap_directive_t **last)
{
    int n = 0;

    for (d = d->first_child; d; d = d->next) {
        if (apppool_section_is(d, "Require")) {
            *last = d;
            n++;
        }
        n += count_requires(d, last);
    }
    return n;
}

static int decides(const ap_directive_t *section)
{
    const ap_directive_t *last;

    return count_requires(section, &last) > 0;
}

static int denies_all(apr_pool_t *p, const ap_directive_t *section)
{
    const ap_directive_t *last = NULL;
    const char *args;

    if (count_requires(section, &last) != 1 || last->parent != section)
        return 0;
    args = last->args;
    return !ap_cstr_casecmp(ap_getword_conf(p, &args), "all") &&
           !ap_cstr_casecmp(ap_getword_conf(p, &args), "denied");
}

/* ---- the search ---- */

static void consider_directory(search_t *s, const ap_directive_t *d)
{
    const char *path = apppool_section_argument(s->p, d);
    size_t n = path ? strcspn(path, APPPOOL_SECTION_WILD) : 0;

    if (!decides(d) || (path && !apppool_section_is_below(s->path, path, n)))
        return;
    if (!path || path[n])
        s->unsure = 1;
    else if (!s->best || n >= s->length) {
        s->best = d;
        s->length = n;
    }
}

/* A <Location> overrides all <Directory> sections. */
static void consider_location(search_t *s, const ap_directive_t *d)
{
    const char *path = apppool_section_argument(s->p, d);

    if (decides(d) &&
        (!path || apppool_section_is_below(
                      s->base_uri, path, strcspn(path, APPPOOL_SECTION_WILD))))
        s->unsure = 1;
}

static void consider(search_t *s, const ap_directive_t *d)
{
    if (apppool_section_is(d, "<Directory"))
        consider_directory(s, d);
    else if (apppool_section_is(d, "<Location"))
        consider_location(s, d);
    else if (apppool_section_is(d, "<DirectoryMatch") ||
             apppool_section_is(d, "<LocationMatch") ||
             apppool_section_is(d, "<If") || apppool_section_is(d, "<ElseIf") ||
             apppool_section_is(d, "<Else"))
        s->unsure |= decides(d);
}

/* @param section is filled in: it denies
 * @return what the administrator has to add; NULL: nothing, as far as known */
static const char *advice(apr_pool_t *p, const server_rec *server,
                          const char *base_uri, const char *path,
                          const ap_directive_t **section)
{
    char *bare = apr_pstrdup(p, path);
    search_t s = {p, bare, base_uri, NULL, 0, 0};
    const apr_array_header_t *of_all = apppool_section_of_all();
    const apr_array_header_t *hosts = apppool_section_of_host(server);
    const ap_directive_t *d = NULL;
    size_t n;
    int i;

    for (n = strlen(bare); n > 0 && bare[n - 1] == '/'; n--)
        bare[n - 1] = 0;
    if (server->is_virtual && (!hosts || hosts->nelts != 1))
        return NULL;
    for (i = 0; i < of_all->nelts; i++)
        consider(&s, APR_ARRAY_IDX(of_all, i, const ap_directive_t *));
    if (hosts)
        d = APR_ARRAY_IDX(hosts, 0, const ap_directive_t *)->first_child;
    for (; d; d = d->next)
        consider(&s, d);
    if (s.unsure || !s.best || !denies_all(p, s.best))
        return NULL;
    *section = s.best;
    return apr_psprintf(
        p,
        "all requests below %s get 403, also those of the application, because "
        "<Directory %s (line %d of %s) says \"Require all denied\"; to grant "
        "access, add to this %s: <Directory \"%s\"> Require all granted "
        "</Directory> (three lines)",
        bare, s.best->args, s.best->line_num, s.best->filename,
        hosts ? "virtual host" : "configuration", bare);
}

/* ---- the messages ---- */

void apppool_denied_root_warn(apr_pool_t *p, const apppool_mount_t *mount)
{
    const core_server_config *core =
        ap_get_core_module_config(mount->server->module_config);
    const char *documents = core->ap_document_root, *what;
    const ap_directive_t *section;

    if (!documents || !apppool_config_mount_has_files(mount) ||
        !access(ap_make_full_path(p, documents, ".htaccess"), F_OK))
        return;
    what = advice(p, mount->server, mount->base_uri, documents, &section);
    if (what)
        apppool_warning_alike(apr_psprintf(p, "denied by line %d of %s",
                                           section->line_num,
                                           section->filename),
                              1, "AppRoot %s (%s): %s", mount->app->pool.root,
                              mount->place, what);
}

int apppool_denied_root_log(request_rec *r)
{
    const apppool_mount_t *mount = apppool_config_mount(r);
    const ap_directive_t *section;
    const char *what;

    if (r->status != HTTP_FORBIDDEN || r->handler || !mount ||
        !apppool_config_mount_has_files(mount))
        return DECLINED;
    what = advice(r->pool, r->server, mount->base_uri,
                  ap_context_document_root(r), &section);
    if (what)
        ap_log_rerror(APLOG_MARK, APLOG_ERR, 0, r, "apppool: %s: %s",
                      mount->app->label, what);
    return DECLINED;
}
