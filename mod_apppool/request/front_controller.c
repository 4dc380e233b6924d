/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/request/front_controller.h"

#include <apr_hash.h>
#include <apr_strings.h>
#include <http_core.h>
#include <http_log.h>
#include <string.h>

#include "detect/detect_table.h"
#include "mod_apppool/config/php_rule.h"
#include "mod_apppool/config/setting.h"

APLOG_USE_MODULE(apppool);

#define AUTO    "auto"
#define OFF     "Off"
#define INDEX   "index.php"
#define MISSING 64 /* processes that have none, as a child knows */

static const char *setting(const request_rec *r)
{
    return apppool_setting_text_here(r, APPPOOL_AppFrontController);
}

/* ---- the script ---- */

static int is_regular(request_rec *r, const char *path)
{
    apr_finfo_t found;

    return apr_stat(&found, path, APR_FINFO_TYPE, r->pool) == APR_SUCCESS &&
           found.filetype == APR_REG;
}

/* DocumentRoot, and then where detection finds an index.php. */
static char *look(request_rec *r, const char *documents, const char *root,
                  const char *name)
{
    const char *place = documents;
    size_t i = 0;

    for (;; i++) {
        char *path = place ? ap_make_full_path(r->pool, place, name) : NULL;

        if (path && is_regular(r, path))
            return path;
        if (!detect_php_dirs[i])
            return NULL;
        place = *detect_php_dirs[i]
                    ? ap_make_full_path(r->pool, root, detect_php_dirs[i])
                    : root;
    }
}

/* One number for a process, the place where the script would be, and the second
 * of this request. */
static uint64_t number_of(const request_rec *r, uint64_t process,
                          const char *documents, const char *root,
                          const char *name)
{
    const char *texts[] = {documents ? documents : "", root, name};
    uint64_t n = process + (uint64_t)apr_time_sec(r->request_time);
    size_t i;

    for (i = 0; i < sizeof texts / sizeof *texts; i++) {
        apr_ssize_t all = APR_HASH_KEY_STRING;

        n = n * 31 + apr_hashfunc_default(texts[i], &all);
    }
    return n;
}

char *apppool_front_controller_find(request_rec *r,
                                    const apppool_mount_t *mount,
                                    apr_uint64_t process, const char *documents,
                                    const char **uri)
{
    static uint64_t missing[MISSING];
    const char *root = mount->app->pool.root;
    const char *name = setting(r);
    uint64_t *known = &missing[process % MISSING], number;
    char *found;

    if (!strcmp(name, OFF))
        return NULL;
    if (!strcmp(name, AUTO))
        name = INDEX;
    number = number_of(r, process, documents, root, name);
    if (process != 0 && __atomic_load_n(known, __ATOMIC_RELAXED) == number)
        return NULL;
    *uri = apr_pstrcat(r->pool, "/", name, NULL);
    found = look(r, documents, root, name);
    if (!found && process != 0)
        __atomic_store_n(known, number, __ATOMIC_RELAXED);
    return found;
}

/* ---- paths that it does not get ---- */

/* Files that say: each path is for index.php, also one that looks like a
 * script. */
static const char *const frameworks[] = {
    ".htaccess",
    "composer.json",
    "vendor/autoload.php",
    "artisan",                     /* Laravel */
    "bin/console",                 /* Symfony */
    "wp-load.php",                 /* WordPress */
    "core/lib/Drupal.php",         /* Drupal */
    "includes/bootstrap.inc",      /* Drupal 7, Backdrop */
    "LocalSettings.php",           /* MediaWiki */
    "configuration.php",           /* Joomla */
    "typo3/index.php",             /* TYPO3 */
    "spark",                       /* CodeIgniter 4 */
    "system/core/CodeIgniter.php", /* CodeIgniter 3 */
    "system/ee/legacy/boot.php",   /* ExpressionEngine */
    "think",                       /* ThinkPHP */
    "thinkphp/start.php",          /* ThinkPHP 5 */
    "yii",                         /* Yii */
    "bin/cake",                    /* CakePHP */
    "occ",                         /* Nextcloud */
    "app/Mage.php",                /* Magento 1, OpenMage */
    "config/defines.inc.php",      /* PrestaShop */
};

static int has_framework(request_rec *r, const char *directory)
{
    apr_finfo_t found;
    size_t i;

    for (i = 0; directory && i < sizeof frameworks / sizeof *frameworks; i++)
        if (apr_stat(&found,
                     ap_make_full_path(r->pool, directory, frameworks[i]),
                     APR_FINFO_TYPE, r->pool) == APR_SUCCESS)
            return 1;
    return 0;
}

int apppool_front_controller_concerns(const request_rec *r)
{
    return strcmp(setting(r), AUTO) || apppool_php_rule_suffix(r->uri) >= 0;
}

int apppool_front_controller_refuses(request_rec *r,
                                     const apppool_mount_t *mount,
                                     const char *documents)
{
    const char *uri;
    int exists =
        apppool_front_controller_find(r, mount, 0, documents, &uri) != NULL;

    if (strcmp(setting(r), AUTO) ? exists
                                 : !exists || has_framework(r, documents) ||
                                       has_framework(r, mount->app->pool.root))
        return 0;
    ap_log_rerror(APLOG_MARK, APLOG_INFO, 0, r,
                  "apppool: %s is no file, and %s has no script for it "
                  "(AppFrontController)",
                  r->uri, mount->app->label);
    return 1;
}
