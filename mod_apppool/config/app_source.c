/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/config/app_source.h"

#include <apr_fnmatch.h>
#include <apr_strings.h>
#include <fcntl.h>
#include <http_core.h>
#include <http_log.h>
#include <string.h>

#include "mod_apppool/config/app_files.h"
#include "mod_apppool/config/section.h"
#include "mod_apppool/config/sendfile_dirs.h"
#include "base/clock_ms.h"
#include "detect/detect.h"
#include "detect/detect_program.h"
#include "detect/detect_text.h"

APLOG_USE_MODULE(apppool);

#define MOST       10 /* applications that are named at the start */
#define WELL_KNOWN ".well-known"

/* THE TABLE of what is static: entries of AppRoot. None of them is where a
 * framework has its code. */
static const char *const statics[] = {
    "public", "static",     "staticfiles", "assets",  "media",
    "images", "robots.txt", "favicon.ico", WELL_KNOWN};

/* THE TABLE of what is secret in a PHP site. With a slash: a path below
 * AppRoot. Without one: the name of a file, in any directory. */
static const char *const secrets[] = {
    /* what the site is made of, with versions that an attacker looks up */
    "composer.json", "composer.lock", "auth.json", "package.json",
    "package-lock.json", "yarn.lock", "Gemfile", "Gemfile.lock", "Procfile",
    "requirements.txt", "Dockerfile", "docker-compose*.yml", "artisan",
    "phpunit.xml", "phpunit.xml.dist",
    /* passwords and keys */
    "master.key", "database.yml", "secrets.yml", "parameters.yml",
    "credentials.yml.enc", "config/*.yml", "config/*.yaml", "config/*.key",
    "config/*.enc", "config/*.ini", "config/credentials/*", "storage/*.key",
    /* data, and source under another name */
    "*.sql", "*.sql.[0-9bgxz]*", "*.sqlite", "*.sqlite-*", "*.sqlite3",
    "*.sqlite3-*", "*.log", "*.log.[0-9bgxz]*", "*.inc", "*~", "*.bak", "*.old",
    "*.orig", "*.save", "*.swp", "*.php.txt", "*.php.dist", "*.php.[0-9]*",
    "*.php[-_]*", "*.php[0-9]", "*.pht"};

/* ---- a file ---- */

static int has_dot_name(const char *path)
{
    const char *part = path;

    while (part) {
        size_t n = strcspn(part, "/");

        if (*part == '.' &&
            (n != strlen(WELL_KNOWN) || memcmp(part, WELL_KNOWN, n) != 0))
            return 1;
        part = part[n] ? part + n + 1 : NULL;
    }
    return 0;
}

static int is_static(const char *path)
{
    size_t i, n = strcspn(path, "/");

    for (i = 0; i < sizeof statics / sizeof *statics; i++)
        if (strlen(statics[i]) == n && !memcmp(path, statics[i], n))
            return 1;
    return 0;
}

static int is_secret(const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t i;

    for (i = 0; i < sizeof secrets / sizeof *secrets; i++)
        if (apr_fnmatch(secrets[i],
                        strchr(secrets[i], '/') || !slash ? path : slash + 1,
                        APR_FNM_CASE_BLIND) == APR_SUCCESS)
            return 1;
    return 0;
}

static int detects_php(const apppool_app_t *app)
{
    return detect_is_php(app->pool.root, (uint32_t)app->protocol);
}

static int is_php(const apppool_app_t *app)
{
    static uint64_t known[APPPOOL_APP_FILES];
    const char *command = app->set->command;

    if (app->protocol != APL_FCGI && app->protocol != APL_AUTO)
        return 0;
    return (command && detect_program_is_php(command)) ||
           apppool_app_files_ask(known, detects_php, app,
                                 (uint64_t)clock_ms() / 1000);
}

int apppool_app_source_may_send(const apppool_app_t *app, const char *path)
{
    if (has_dot_name(path))
        return 0;
    return is_static(path) || (!is_secret(path) && is_php(app));
}

/* ---- at the start ---- */

/* Is the directory AppRoot, or above it? */
static int opens(apr_pool_t *p, const char *directory, const char *root)
{
    const char *real = apppool_sendfile_dirs_real(p, directory);
    size_t n = real ? strlen(real) : 0;

    return n > 0 && !strncmp(root, real, n) &&
           (!root[n] || root[n] == '/' || n == 1);
}

/* @return the Alias that opens AppRoot: this directive, or one in this section;
 * NULL: there is none */
static const ap_directive_t *find_alias(apr_pool_t *p, const ap_directive_t *d,
                                        const char *root)
{
    const ap_directive_t *found = NULL;
    const char *args = d->args;

    if (apppool_section_is(d, "Alias")) {
        ap_getword_conf(p, &args);
        if (opens(p, ap_getword_conf(p, &args), root))
            return d;
    }
    for (d = d->first_child; d && !found; d = d->next)
        found = find_alias(p, d, root);
    return found;
}

/* The first Alias of a list that find_alias() finds.
 * @param list NULL: there are none */
static const ap_directive_t *
find_among(apr_pool_t *p, const apr_array_header_t *list, const char *root)
{
    const ap_directive_t *found = NULL;
    int i;

    for (i = 0; list && i < list->nelts && !found; i++)
        found =
            find_alias(p, APR_ARRAY_IDX(list, i, const ap_directive_t *), root);
    return found;
}

/* What opens AppRoot. @return NULL: nothing that is known now */
static const char *find_opener(apr_pool_t *p, const apppool_mount_t *mount)
{
    const core_server_config *core =
        ap_get_core_module_config(mount->server->module_config);
    const char *documents = core->ap_document_root;
    const ap_directive_t *alias;

    if (!mount->app->real_root)
        return NULL;
    if (documents && apppool_config_mount_has_files(mount) &&
        opens(p, documents, mount->app->real_root))
        return apr_pstrcat(p, "DocumentRoot ", documents, NULL);
    alias = find_among(p, apppool_section_of_all(), mount->app->real_root);
    if (!alias)
        alias = find_among(p, apppool_section_of_host(mount->server),
                           mount->app->real_root);
    return alias ? apr_pstrcat(p, "Alias ", alias->args, NULL) : NULL;
}

static const char *list_of_statics(apr_pool_t *p)
{
    const char *list = statics[0];
    size_t i;

    for (i = 1; i < sizeof statics / sizeof *statics; i++)
        list = apr_pstrcat(p, list, ", ", statics[i], NULL);
    return list;
}

/* Is it a PHP site that was made to be a DocumentRoot? */
static int is_whole_site(apr_pool_t *p, const char *root)
{
    return detect_text_exists(AT_FDCWD,
                              ap_make_full_path(p, root, "index.php"));
}

static void say(apr_pool_t *p, const apppool_mount_t *mount, const char *opener)
{
    const char *root = mount->app->pool.root;
    const char *what;
    int level = APLOG_WARNING;

    if (apppool_config_dir(p, mount)->serve_source == 1)
        what = ", with its code and secrets: httpd sends them, because "
               "AppServeSource is On";
    else if (!is_php(mount->app))
        what = apr_pstrcat(p, ", with its code and secrets: httpd sends only ",
                           list_of_statics(p),
                           " from there; name the directory of other files in "
                           "DocumentRoot or Alias, or set AppServeSource",
                           NULL);
    else if (!is_whole_site(p, root))
        what = ", with its code and secrets: httpd does not send names that "
               "begin with a dot, and files such as composer.json, but a "
               "directory below it, such as public, is better";
    else {
        what = ": httpd does not send names that begin with a dot, and files "
               "such as composer.json";
        level = APLOG_NOTICE;
    }
    ap_log_error(APLOG_MARK, APLOG_STARTUP | level, 0, NULL,
                 "apppool: %s contains AppRoot %s (%s)%s", opener, root,
                 mount->place, what);
}

void apppool_app_source_report(apr_pool_t *p)
{
    const apr_array_header_t *mounts = apppool_config()->mounts;
    apr_hash_t *said = apr_hash_make(p);
    int i, n = 0;

    for (i = 0; i < mounts->nelts; i++) {
        const apppool_mount_t *mount =
            APR_ARRAY_IDX(mounts, i, const apppool_mount_t *);
        const char *opener;

        if (!mount->app || apr_hash_get(said, &mount->app, sizeof mount->app))
            continue;
        opener = find_opener(p, mount);
        if (!opener)
            continue;
        apr_hash_set(said, &mount->app, sizeof mount->app, "");
        if (n++ < MOST)
            say(p, mount, opener);
    }
    if (n > MOST)
        ap_log_error(APLOG_MARK, APLOG_STARTUP | APLOG_WARNING, 0, NULL,
                     "apppool: the same is so for %d more applications: a "
                     "DocumentRoot or an Alias contains their AppRoot",
                     n - MOST);
}
