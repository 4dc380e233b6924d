/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The threads of a child of httpd share what a walk of DocumentRoot has found.
 * httpd is played here. */

#include "mod_apppool/request/document_root.h"

#include <apr_general.h>
#include <apr_strings.h>
#include <http_config.h>
#include <http_core.h>
#include <http_log.h>
#include <http_request.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "mod_apppool/config/config.h"

#define THREADS  4
#define REQUESTS 2000 /* of a thread, one for each second */

module AP_MODULE_DECLARE_DATA apppool_module;

static int walks, file_walks; /* of httpd */
static void *found[1];        /* by a walk */
static const apppool_mount_t *const mount = (const void *)&found;

/* ---- httpd ---- */

int ap_directory_walk(request_rec *r)
{
    __atomic_add_fetch(&walks, 1, __ATOMIC_RELAXED);
    r->finfo.filetype = APR_DIR;
    r->per_dir_config = (ap_conf_vector_t *)found;
    return OK;
}

int ap_file_walk(request_rec *r)
{
    (void)r;
    __atomic_add_fetch(&file_walks, 1, __ATOMIC_RELAXED);
    return OK;
}

ap_conf_vector_t *ap_create_request_config(apr_pool_t *p)
{
    return apr_pcalloc(p, sizeof(void *));
}

int ap_regexec(const ap_regex_t *regex, const char *text, apr_size_t n,
               ap_regmatch_t *matches, int flags)
{
    (void)regex, (void)text, (void)n, (void)matches, (void)flags;
    return AP_REG_NOMATCH;
}

void ap_log_rerror_(const char *file, int line, int module_index, int level,
                    apr_status_t status, const request_rec *r,
                    const char *format, ...)
{
    (void)file, (void)line, (void)module_index, (void)level;
    (void)status, (void)r, (void)format;
}

const apppool_mount_t *apppool_config_mount(const request_rec *r)
{
    (void)r;
    return mount;
}

/* ---- a virtual host, whose DocumentRoot is a directory of this test ---- */

static char directory[] = "/tmp/apt-XXXXXX";

static server_rec *make_server(apr_pool_t *p)
{
    server_rec *s = apr_pcalloc(p, sizeof *s);
    core_server_config *core = apr_pcalloc(p, sizeof *core);
    core_dir_config *section = apr_pcalloc(p, sizeof *section);
    void **configs = apr_pcalloc(p, 2 * sizeof *configs);

    section->opts = OPT_SYM_LINKS;
    section->override = OR_NONE;
    section->override_list = apr_table_make(p, 1);
    configs[0] = core;
    configs[1] = section;
    core->ap_document_root = directory;
    core->sec_dir = apr_array_make(p, 1, sizeof(void *));
    *(void **)apr_array_push(core->sec_dir) = &configs[1];
    s->module_config = (ap_conf_vector_t *)configs;
    s->lookup_defaults = (ap_conf_vector_t *)&configs[1];
    return s;
}

static void one_request(server_rec *s, apr_pool_t *p, int second)
{
    conn_rec c = {.log = NULL};
    request_rec r = {.pool = p,
                     .server = s,
                     .connection = &c,
                     .notes = apr_table_make(p, 1),
                     .request_time = apr_time_from_sec(second)};

    r.filename = apr_pstrcat(p, directory, "/x/y", NULL);
    if (apppool_document_root_map_to_storage(&r) != OK ||
        r.per_dir_config != (ap_conf_vector_t *)found ||
        strcmp(r.path_info, "/y") != 0 ||
        strcmp(r.filename + strlen(directory), "/x") != 0)
        abort();
}

static void *be_worker(void *server)
{
    apr_pool_t *p;
    int i;

    apr_pool_create(&p, NULL);
    for (i = 1; i <= REQUESTS; i++) {
        one_request(server, p, i);
        apr_pool_clear(p);
    }
    apr_pool_destroy(p);
    return NULL;
}

static void threads_walk_once(void **state)
{
    pthread_t threads[THREADS];
    apr_pool_t *p;
    server_rec *s;
    int i;

    (void)state;
    apr_initialize();
    apr_pool_create(&p, NULL);
    assert_non_null(mkdtemp(directory));
    s = make_server(p);
    apppool_document_root_init(p, s);
    for (i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, be_worker, s), 0);
    for (i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(walks, 1);
    assert_int_equal(file_walks, THREADS * REQUESTS);
    assert_int_equal(rmdir(directory), 0);
    apr_pool_destroy(p);
    apr_terminate();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_walk_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
