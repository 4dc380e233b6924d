/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/config/section.h"

#include <string.h>

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
