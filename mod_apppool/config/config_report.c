/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/config/config_report.h"

#include <apr_strings.h>
#include <string.h>

#include "mod_apppool/config/config_defaults.h"
#include "mod_apppool/config/config_origin.h"
#include "mod_apppool/config/directives.h"

static int is_of_apps(const command_rec *c)
{
    return (c->req_override & ACCESS_CONF) != 0 &&
           strncmp(c->name, "AppStatus", 9) != 0;
}

/* Those of one name, which are several of AppSetEnv. @return 0: none */
static int add_origins(apr_pool_t *p, apr_array_header_t *lines,
                       const apppool_app_t *app, const char *name)
{
    apr_hash_index_t *i;
    int n = 0;

    for (i = app->set->origins ? apr_hash_first(p, app->set->origins) : NULL; i;
         i = apr_hash_next(i)) {
        const apppool_config_origin_t *origin = apr_hash_this_val(i);

        if (strcmp(origin->name, name) != 0)
            continue;
        APR_ARRAY_PUSH(lines, const char *) = apr_pstrcat(
            p, name, "\t", origin->words, "\t", origin->place, "\n", NULL);
        n++;
    }
    return n;
}

const char *apppool_config_report(apr_pool_t *p, const apppool_app_t *app)
{
    apr_array_header_t *lines = apr_array_make(p, 64, sizeof(char *));
    const command_rec *c;
    const char *value;

    for (c = apppool_directives; c->name; c++) {
        if (!is_of_apps(c) || add_origins(p, lines, app, c->name))
            continue;
        value = apppool_config_defaults_of(p, app, c->name);
        APR_ARRAY_PUSH(lines, const char *) =
            apr_pstrcat(p, c->name, "\t", value ? value : "", "\t\n", NULL);
    }
    return apr_array_pstrcat(p, lines, 0);
}
