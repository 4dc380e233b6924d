/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/request/document_root.h"

#include <apr_fnmatch.h>
#include <apr_hash.h>
#include <apr_strings.h>
#include <apr_thread_mutex.h>
#include <errno.h>
#include <http_config.h>
#include <http_core.h>
#include <http_log.h>
#include <http_request.h>
#include <string.h>
#include <sys/stat.h>

#include "mod_apppool/config/config.h"

APLOG_USE_MODULE(apppool);

#define BY_LOCATION "apppool-location" /* a note */
#define NOTES       64 /* far more than httpd has; a walk uses one */
#define LINKS       (OPT_SYM_LINKS | OPT_SYM_OWNER)

typedef enum { UNKNOWN, KEPT, WALKED } state_t;

/* Of a virtual host. */
typedef struct {
    const char *path; /* a slash is its last character */
    size_t length;
    state_t state;               /* stored last */
    ap_conf_vector_t *config;    /* KEPT: what a walk has found */
    apr_array_header_t *regexes; /* of <DirectoryMatch>: ap_regex_t * */
    uint32_t seen;               /* second in which it was last seen */
} document_root_t;

/* Filled in before there are threads: server_rec * to document_root_t *. */
static apr_hash_t *roots;
static apr_thread_mutex_t *mutex;
static apr_pool_t *pool; /* used with the mutex */

static document_root_t *make_root(apr_pool_t *p, server_rec *s)
{
    const core_server_config *core =
        ap_get_core_module_config(s->module_config);
    document_root_t *root = apr_pcalloc(p, sizeof *root);
    size_t n = core->ap_document_root ? strlen(core->ap_document_root) : 0;

    while (n > 0 && core->ap_document_root[n - 1] == '/')
        n--;
    root->path = apr_pstrcat(
        p, n > 0 ? apr_pstrmemdup(p, core->ap_document_root, n) : "", "/",
        NULL);
    root->length = n + 1;
    root->state = n > 0 ? UNKNOWN : WALKED;
    return root;
}

void apppool_document_root_init(apr_pool_t *p, server_rec *s)
{
    roots = NULL;
    if (apr_thread_mutex_create(&mutex, APR_THREAD_MUTEX_DEFAULT, p) !=
        APR_SUCCESS)
        return;
    apr_pool_create(&pool, p);
    roots = apr_hash_make(p);
    for (; s; s = s->next)
        apr_hash_set(roots, apr_pmemdup(p, &s, sizeof s), sizeof s,
                     make_root(p, s));
}

void apppool_document_root_note(request_rec *r)
{
    apr_table_setn(r->notes, BY_LOCATION, "");
}

/* ---- can the file system change what the sections say? ---- */

/* May it hold for a directory on the way? A pattern is compared with more of
 * them than httpd compares it with. */
static int may_hold(const core_dir_config *section, const document_root_t *root)
{
    size_t i;

    if (section->d_components == 0)
        return 1;
    if (!section->d_is_fnmatch)
        return !strncmp(root->path, section->d, strlen(section->d));
    for (i = 0; i < root->length; i++)
        if (root->path[i] == '/' &&
            apr_fnmatch(section->d, apr_pstrmemdup(pool, root->path, i + 1),
                        APR_FNM_PATHNAME) == APR_SUCCESS)
            return 1;
    return 0;
}

/* Are links still followed below it, whatever their owner is? */
static int follows_links(const core_dir_config *section)
{
    if (section->opts & OPT_UNSET)
        return !(section->opts_remove & OPT_SYM_LINKS) &&
               !(section->opts_add & OPT_SYM_OWNER);
    return (section->opts & LINKS) == OPT_SYM_LINKS;
}

static int allows_override(const core_dir_config *section)
{
    return (!(section->override & OR_UNSET) && section->override != OR_NONE) ||
           !apr_is_empty_table(section->override_list);
}

static int is_independent(const document_root_t *root, server_rec *s)
{
    const core_server_config *core =
        ap_get_core_module_config(s->module_config);
    const core_dir_config *section =
        ap_get_core_module_config(s->lookup_defaults);
    ap_conf_vector_t **sections = (ap_conf_vector_t **)core->sec_dir->elts;
    int i, none = 0;

    if ((section->opts & LINKS) != OPT_SYM_LINKS)
        return 0;
    for (i = 0; i < core->sec_dir->nelts; i++) {
        section = ap_get_core_module_config(sections[i]);
        if (!section || section->r || !may_hold(section, root))
            continue;
        if (!follows_links(section) || allows_override(section))
            return 0;
        /* Without it httpd looks for .htaccess, and refuses its content. */
        if (section->d_components == 0 && section->override == OR_NONE)
            none = 1;
    }
    return none;
}

static apr_array_header_t *regexes_of(server_rec *s)
{
    const core_server_config *core =
        ap_get_core_module_config(s->module_config);
    ap_conf_vector_t **sections = (ap_conf_vector_t **)core->sec_dir->elts;
    apr_array_header_t *found = apr_array_make(pool, 1, sizeof(ap_regex_t *));
    int i;

    for (i = 0; i < core->sec_dir->nelts; i++) {
        const core_dir_config *section = ap_get_core_module_config(sections[i]);

        if (section && section->r)
            *(ap_regex_t **)apr_array_push(found) = section->r;
    }
    return found;
}

static int matches_regex(const document_root_t *root, const char *path)
{
    ap_regex_t *const *regexes = (ap_regex_t *const *)root->regexes->elts;
    int i;

    for (i = 0; i < root->regexes->nelts; i++)
        if (ap_regexec(regexes[i], path, 0, NULL, 0) == 0)
            return 1;
    return 0;
}

/* ---- the walk ---- */

/* Make a request for DocumentRoot that lives as long as the child. It has the
 * fields of r that a walk needs for its log lines. */
static request_rec *forge(const request_rec *r, const char *path)
{
    request_rec *walk = apr_pmemdup(pool, r, sizeof *r);
    core_request_config *core = apr_pcalloc(pool, sizeof *core);

    core->notes = apr_pcalloc(pool, NOTES * sizeof *core->notes);
    walk->pool = pool;
    walk->main = walk->prev = walk->next = NULL;
    walk->filename = apr_pstrdup(pool, path);
    walk->canonical_filename = walk->path_info = NULL;
    memset(&walk->finfo, 0, sizeof walk->finfo);
    walk->notes = apr_table_make(pool, 1);
    walk->subprocess_env = apr_table_make(pool, 1);
    walk->htaccess = NULL;
    walk->per_dir_config = r->server->lookup_defaults;
    walk->request_config = ap_create_request_config(pool);
    ap_set_core_module_config(walk->request_config, core);
    return walk;
}

/* Called with the mutex. */
static state_t walk_once(document_root_t *root, const request_rec *r)
{
    const char *path = apr_pstrmemdup(pool, root->path, root->length - 1);
    request_rec *walk;

    root->regexes = regexes_of(r->server);
    if (!is_independent(root, r->server) || matches_regex(root, path))
        return WALKED;
    walk = forge(r, path);
    if (ap_directory_walk(walk) != OK || walk->finfo.filetype != APR_DIR)
        return WALKED;
    root->config = walk->per_dir_config;
    ap_log_rerror(APLOG_MARK, APLOG_DEBUG, 0, r,
                  "apppool: httpd walks through %s only for files below it",
                  path);
    return KEPT;
}

static int is_kept(document_root_t *root, const request_rec *r)
{
    state_t state = __atomic_load_n(&root->state, __ATOMIC_ACQUIRE);

    if (state == UNKNOWN) {
        apr_thread_mutex_lock(mutex);
        if (root->state == UNKNOWN)
            __atomic_store_n(&root->state, walk_once(root, r),
                             __ATOMIC_RELEASE);
        state = root->state;
        apr_thread_mutex_unlock(mutex);
    }
    return state == KEPT;
}

/* ---- a request ---- */

/* Does DocumentRoot exist? Without it, fewer <Directory> sections apply. */
static int is_there(document_root_t *root, const request_rec *r)
{
    uint32_t now = (uint32_t)apr_time_sec(r->request_time);
    struct stat st;

    if (__atomic_load_n(&root->seen, __ATOMIC_RELAXED) == now)
        return 1;
    if (stat(root->path, &st) != 0)
        return 0;
    __atomic_store_n(&root->seen, now, __ATOMIC_RELAXED);
    return 1;
}

/* Would httpd leave these parts of a path as they are? */
static int is_canonical(const char *parts)
{
    for (;;) {
        size_t n = strcspn(parts, "/");

        if ((n == 1 && parts[0] == '.') ||
            (n == 2 && parts[0] == '.' && parts[1] == '.'))
            return 0;
        parts += n;
        if (!*parts || !*++parts)
            return 1;
        if (*parts == '/')
            return 0;
    }
}

/* The length of the path to the entry directly below DocumentRoot; 0: the file
 * is not below it. */
static size_t find_part(const document_root_t *root, const char *filename)
{
    size_t n = strlen(filename);

    if (n <= root->length || n >= APR_PATH_MAX ||
        memcmp(filename, root->path, root->length) != 0 ||
        filename[root->length] == '/' || !is_canonical(filename + root->length))
        return 0;
    return root->length + strcspn(filename + root->length, "/");
}

/* Does a walk begin as it would without another module? */
static int is_plain(const request_rec *r)
{
    return !r->main && r->filename && r->finfo.filetype == APR_NOFILE &&
           !(r->path_info && *r->path_info);
}

int apppool_document_root_map_to_storage(request_rec *r)
{
    document_root_t *root;
    struct stat st;
    size_t n;
    char *path;

    if (!roots || !is_plain(r) ||
        (!apppool_config_mount(r) && !apr_table_get(r->notes, BY_LOCATION)))
        return DECLINED;
    root = apr_hash_get(roots, &r->server, sizeof r->server);
    n = root ? find_part(root, r->filename) : 0;
    if (n == 0)
        return DECLINED;
    path = apr_pstrmemdup(r->pool, r->filename, n);
    /* httpd itself refuses a link that leads nowhere. */
    if (lstat(path, &st) == 0 || errno != ENOENT || !is_there(root, r) ||
        !is_kept(root, r) || matches_regex(root, path))
        return DECLINED;
    r->path_info = r->filename + n;
    r->filename = r->canonical_filename = path;
    r->per_dir_config = root->config;
    return ap_file_walk(r);
}
