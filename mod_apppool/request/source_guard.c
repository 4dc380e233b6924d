/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/request/source_guard.h"

#include <apr_strings.h>
#include <http_core.h>
#include <http_log.h>
#include <string.h>
#include <sys/stat.h>

#include "mod_apppool/config/setting.h"
#include "mod_apppool/config/app_source.h"
#include "shm/lock/lock_token.h"

APLOG_USE_MODULE(apppool);

#define CHECKED     "apppool-source-checked" /* a note: the file */
#define SCRIPT_TYPE "application/x-httpd-"

#define KNOWN       64 /* directories of which a thread knows what they are */

/* A directory, whatever its name is. */
typedef struct {
    dev_t device;
    ino_t number;            /* 0: it is not there */
    struct timespec changed; /* a later directory may get the same number */
} place_t;

/* The AppRoots of a virtual host. */
typedef struct {
    apr_pool_t *p;
    const apr_array_header_t *apps;
    place_t *places; /* NULL: nobody has looked yet */
    int64_t now;     /* before any look */
} roots_t;

/* What a directory was in the last second. */
typedef struct {
    const apr_array_header_t *apps; /* of this virtual host */
    place_t place;
    int root; /* which AppRoot; -1: none */
    int64_t until;
} known_t;

static place_t place_of(const char *path)
{
    struct stat st;
    place_t place = {0, 0, {0, 0}};

    if (path && *path && stat(path, &st) == 0) {
        place.device = st.st_dev;
        place.number = st.st_ino;
        place.changed = st.st_ctim;
    }
    return place;
}

static int is_same(place_t a, place_t b)
{
    return a.number != 0 && a.number == b.number && a.device == b.device;
}

static const apppool_app_t *app_of(const roots_t *roots, int i)
{
    return APR_ARRAY_IDX(roots->apps, i, const apppool_app_t *);
}

/* @return which AppRoot is the directory; -1: none */
static int look_for_root(roots_t *roots, place_t directory)
{
    int i, n = roots->apps->nelts;

    if (!roots->places) {
        roots->places = apr_palloc(roots->p, (size_t)n * sizeof(place_t));
        for (i = 0; i < n; i++)
            roots->places[i] = place_of(app_of(roots, i)->pool.root);
    }
    for (i = 0; i < n; i++)
        if (is_same(roots->places[i], directory))
            return i;
    return -1;
}

static int is_known(const known_t *known, const roots_t *roots,
                    place_t directory)
{
    return known->apps == roots->apps && roots->now < known->until &&
           is_same(known->place, directory) &&
           known->place.changed.tv_sec == directory.changed.tv_sec &&
           known->place.changed.tv_nsec == directory.changed.tv_nsec;
}

/* As look_for_root(), with what is known. An AppRoot may be a link to another
 * directory by now. What is known is therefore about directories, not about
 * AppRoots: a new release has not been seen, so that it is looked for at
 * once. */
static int find_root(roots_t *roots, place_t directory)
{
    static __thread known_t all[KNOWN];
    known_t *known = &all[directory.number % KNOWN];

    if (directory.number == 0)
        return -1;
    if (!is_known(known, roots, directory)) {
        known->root = look_for_root(roots, directory);
        known->apps = roots->apps;
        known->place = directory;
        known->until = roots->now + APR_USEC_PER_SEC;
    }
    return known->root;
}

/* Cut the last part of a path. @return its length; 0: there is no more */
static size_t cut(char *path)
{
    char *slash = strrchr(path, '/');

    if (!slash || slash == path)
        return 0;
    *slash = 0;
    return (size_t)(slash - path);
}

/* Has a rewrite rule named this file itself? Then it is not below the directory
 * that was opened. */
static int is_rewritten(const request_rec *r, char *path, place_t opened)
{
    const char *rules = apr_table_get(r->notes, "mod_rewrite_rewritten");

    if (!rules || !strcmp(rules, "0"))
        return 0;
    do
        if (is_same(place_of(path), opened))
            return 0;
    while (cut(path));
    return 1;
}

/* @param below filled in: the path of the file, below AppRoot
 * @return the application of which httpd opens the whole AppRoot; or NULL */
static const apppool_app_t *find_app(request_rec *r, const char **below)
{
    roots_t roots = {r->pool, apppool_config_apps(r->server), NULL, apl_now()};
    place_t opened = place_of(ap_context_document_root(r)), directory;
    char *path = apr_pstrdup(r->pool, r->filename);
    size_t n;
    int i;

    while ((n = cut(path)) != 0) {
        directory = place_of(path);
        i = find_root(&roots, directory);
        if (i >= 0) {
            *below = r->filename + n + 1;
            return is_rewritten(r, path, opened) ? NULL : app_of(&roots, i);
        }
        if (is_same(directory, opened))
            break;
    }
    return NULL;
}

static void say(const request_rec *r, const apppool_app_t *app)
{
    static int said;
    int again = __atomic_exchange_n(&said, 1, __ATOMIC_RELAXED);

    ap_log_rerror(APLOG_MARK, again ? APLOG_INFO : APLOG_NOTICE, 0, r,
                  "apppool: %s is not sent: it is one of the own files of %s, "
                  "and AppServeSource is Off%s",
                  r->filename, app->label,
                  again ? "" : " (later such lines have level info)");
}

static int check(request_rec *r)
{
    const char *below;
    const apppool_app_t *app;

    if (r->finfo.filetype != APR_REG || r->proxyreq || !r->filename ||
        *r->filename != '/' || apppool_setting_here(r, APPPOOL_AppServeSource))
        return DECLINED;
    app = find_app(r, &below);
    if (app && !apppool_app_source_may_send(app, below)) {
        say(r, app);
        return HTTP_NOT_FOUND;
    }
    apr_table_setn(r->notes, CHECKED, r->filename);
    return DECLINED;
}

/* AddType gives scripts a type that mod_php takes for a handler. */
static int has_handler(const request_rec *r)
{
    return r->handler ||
           (r->content_type &&
            !strncmp(r->content_type, SCRIPT_TYPE, strlen(SCRIPT_TYPE)));
}

int apppool_source_guard_fixups(request_rec *r)
{
    return apppool_config_has_mount(r->server) && !has_handler(r) ? check(r)
                                                                  : DECLINED;
}

int apppool_source_guard_handler(request_rec *r)
{
    const char *checked;

    if (!apppool_config_has_mount(r->server))
        return DECLINED;
    checked = apr_table_get(r->notes, CHECKED);
    return checked && r->filename && !strcmp(checked, r->filename) ? DECLINED
                                                                   : check(r);
}
