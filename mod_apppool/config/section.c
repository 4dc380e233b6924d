/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/config/section.h"

#include <apr_hash.h>
#include <apr_strings.h>
#include <string.h>

/* In the configuration's pool. */
static apr_array_header_t *of_all;
static apr_hash_t *of_hosts; /* by place */

static const char *place(apr_pool_t *p, const char *file, unsigned line)
{
    return apr_psprintf(p, "%u %s", line, file);
}

static void add_host(apr_pool_t *p, const ap_directive_t *d)
{
    const char *key = place(p, d->filename, (unsigned)d->line_num);
    apr_array_header_t *here = apr_hash_get(of_hosts, key, APR_HASH_KEY_STRING);

    if (!here)
        here = apr_array_make(p, 1, sizeof d);
    APR_ARRAY_PUSH(here, const ap_directive_t *) = d;
    apr_hash_set(of_hosts, key, APR_HASH_KEY_STRING, here);
}

void apppool_section_begin(apr_pool_t *p)
{
    const ap_directive_t *d;

    of_all = apr_array_make(p, 16, sizeof d);
    of_hosts = apr_hash_make(p);
    for (d = ap_conftree; d; d = d->next)
        if (apppool_section_is(d, "<VirtualHost"))
            add_host(p, d);
        else if (*d->directive == '<' || apppool_section_is(d, "Alias"))
            APR_ARRAY_PUSH(of_all, const ap_directive_t *) = d;
}

const apr_array_header_t *apppool_section_of_host(const server_rec *server)
{
    char key[1024];

    if (!server->is_virtual || !of_hosts)
        return NULL;
    apr_snprintf(key, sizeof key, "%u %s", server->defn_line_number,
                 server->defn_name);
    return apr_hash_get(of_hosts, key, APR_HASH_KEY_STRING);
}

const apr_array_header_t *apppool_section_of_all(void)
{
    return of_all;
}

int apppool_section_is(const ap_directive_t *d, const char *name)
{
    return !ap_cstr_casecmp(d->directive, name);
}

char *apppool_section_argument(apr_pool_t *p, const ap_directive_t *section)
{
    const char *args = section->args;
    char *path = ap_getword_conf(p, &args);
    size_t n = strlen(path);

    if (!strcmp(path, "~"))
        return NULL;
    if (n > 0 && path[n - 1] == '>' && !*args)
        path[--n] = 0;
    ap_no2slash(path);
    for (n = strlen(path); n > 0 && path[n - 1] == '/'; n--)
        path[n - 1] = 0;
    return path;
}

int apppool_section_is_below(const char *path, const char *above, size_t n)
{
    int whole = !above[n];

    while (whole && n > 0 && above[n - 1] == '/')
        n--;
    return !strncmp(path, above, n) && (!path[n] || path[n] == '/' || !whole);
}

int apppool_section_holds_for(const ap_directive_t *d, const server_rec *server)
{
    for (d = d->parent; d; d = d->parent)
        if (!ap_cstr_casecmp(d->directive, "<VirtualHost"))
            return server->is_virtual &&
                   d->line_num == (int)server->defn_line_number &&
                   !strcmp(d->filename, server->defn_name);
    return 1;
}
