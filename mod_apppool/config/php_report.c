/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/config/checks.h"

#include <apr_strings.h>
#include <http_core.h>
#include <http_log.h>
#include <string.h>

#include "mod_apppool/config/app.h"
#include "mod_apppool/config/php_directives.h"
#include "mod_apppool/config/php_verdict.h"
#include "mod_apppool/config/section.h"
#include "detect/detect.h"

APLOG_USE_MODULE(apppool);

#define SAY(level, ...)                                                        \
    ap_log_error(APLOG_MARK, APLOG_STARTUP | (level), 0, NULL,                 \
                 "apppool: " __VA_ARGS__)

static int speaks_fcgi(const apppool_app_t *app)
{
    const char *file;

    return app->protocol == APL_FCGI ||
           (app->protocol == APL_AUTO &&
            detect_protocol(app->pool.root, &file) == APL_FCGI);
}

/* Where httpd looks for the files of a mount, as far as it is known now. */
static const char *documents_of(const apppool_mount_t *mount)
{
    const core_server_config *core =
        ap_get_core_module_config(mount->server->module_config);

    return mount->section ? mount->directory : core->ap_document_root;
}

static int overlap(const char *section, const char *directory)
{
    size_t n = strcspn(section, APPPOOL_SECTION_WILD);

    return directory &&
           (apppool_section_is_below(directory, section, n) ||
            apppool_section_is_below(section, directory, strlen(directory)));
}

/* May the rule hold for scripts that the application may run? A <Location>
 * below the mount mostly leads to something else. */
static int concerns(const apppool_php_rule_t *rule,
                    const apppool_mount_t *mount)
{
    if (rule->server->is_virtual && rule->server != mount->server)
        return 0;
    if (rule->location)
        return apppool_section_is_below(
            mount->base_uri, rule->location,
            strcspn(rule->location, APPPOOL_SECTION_WILD));
    return !rule->directory || overlap(rule->directory, documents_of(mount)) ||
           overlap(rule->directory, mount->app->pool.root);
}

/* Does the rule give all scripts of the mount to another PHP? <FilesMatch> is
 * how scripts are named. */
static int takes_all(apr_pool_t *p, const apppool_php_rule_t *rule,
                     const apppool_mount_t *mount)
{
    apppool_php_rule_t anywhere = *rule;

    anywhere.in_files = 0;
    return apppool_php_verdict_holds_for_all(p, &anywhere, mount,
                                             documents_of(mount));
}

/* @param what runs them: a directive */
static void say_kept(const char *what, const apppool_mount_t *mount)
{
    SAY(APLOG_WARNING,
        "%s runs the scripts of AppRoot %s (%s), and the application does not: "
        "remove it to have them run by the application, as its user",
        what, mount->app->pool.root, mount->place);
}

static void say_overruled(apr_pool_t *p, const apppool_php_rule_t *rule,
                          const apppool_mount_t *first, int others)
{
    SAY(APLOG_NOTICE,
        "%s does not count for the scripts of AppRoot %s (%s)%s: the "
        "application runs them; to have another PHP in a directory, set "
        "AppRoot Off there",
        apppool_php_rule_text(p, rule), first->app->pool.root, first->place,
        others == 0 ? "" : apr_psprintf(p, " and of %d more AppRoots", others));
}

/* AddHandler has one rule for each of its suffixes. */
static int is_repeated(const apr_array_header_t *rules, int i)
{
    return i > 0 &&
           !strcmp(
               APR_ARRAY_IDX(rules, i, const apppool_php_rule_t *)->place,
               APR_ARRAY_IDX(rules, i - 1, const apppool_php_rule_t *)->place);
}

static void report(apr_pool_t *p, const apppool_php_rule_t *rule)
{
    const apr_array_header_t *mounts = apppool_config()->mounts;
    const apppool_mount_t *first = NULL;
    int i, n = 0;

    for (i = 0; i < mounts->nelts; i++) {
        const apppool_mount_t *mount =
            APR_ARRAY_IDX(mounts, i, const apppool_mount_t *);

        if (!mount->app || !concerns(rule, mount) || !speaks_fcgi(mount->app))
            continue;
        if (!apppool_php_verdict_is_own(rule, mount, documents_of(mount))) {
            if (n++ == 0)
                first = mount;
        }
        else if (takes_all(p, rule, mount))
            say_kept(apppool_php_rule_text(p, rule), mount);
    }
    if (first)
        say_overruled(p, rule, first, n - 1);
}

/* ---- ProxyPassMatch, which comes before all handlers ---- */

/* Does it send the index.php of the mount to a FastCGI program? */
static int takes_index(apr_pool_t *p, const ap_directive_t *d,
                       const apppool_mount_t *mount)
{
    const char *args = d->args, *pattern = ap_getword_conf(p, &args);
    const char *index = apr_pstrcat(p, mount->base_uri, "/index.php", NULL);
    ap_regex_t *regex = strstr(args, "fcgi://")
                            ? ap_pregcomp(p, pattern, AP_REG_EXTENDED)
                            : NULL;

    return regex && ap_regexec(regex, index, 0, NULL, 0) == 0;
}

static void report_proxied(apr_pool_t *p, const ap_directive_t *d)
{
    const apr_array_header_t *mounts = apppool_config()->mounts;
    int i;

    for (i = 0; i < mounts->nelts; i++) {
        const apppool_mount_t *mount =
            APR_ARRAY_IDX(mounts, i, const apppool_mount_t *);

        if (mount->app && apppool_section_holds_for(d, mount->server) &&
            takes_index(p, d, mount) && speaks_fcgi(mount->app))
            say_kept(apr_psprintf(p, "%s %s (line %d of %s)", d->directive,
                                  d->args, d->line_num, d->filename),
                     mount);
    }
}

static void look_for_proxied(apr_pool_t *p, const ap_directive_t *list)
{
    const ap_directive_t *d;

    for (d = list; d; d = d->next) {
        if (!ap_cstr_casecmp(d->directive, "ProxyPassMatch"))
            report_proxied(p, d);
        look_for_proxied(p, d->first_child);
    }
}

void apppool_php_report(apr_pool_t *p)
{
    const apr_array_header_t *rules = apppool_php_directives_handlers();
    int i;

    for (i = 0; i < rules->nelts; i++)
        if (!is_repeated(rules, i))
            report(p, APR_ARRAY_IDX(rules, i, const apppool_php_rule_t *));
    look_for_proxied(p, ap_conftree);
}
