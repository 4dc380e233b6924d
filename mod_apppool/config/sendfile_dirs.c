/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/config/sendfile_dirs.h"

#include <apr_strings.h>
#include <http_core.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "mod_apppool/config/value.h"

const char *apppool_sendfile_dirs_real(apr_pool_t *p, const char *dir)
{
    char real[PATH_MAX];

    return realpath(dir, real) ? apr_pstrdup(p, real) : NULL;
}

const char *apppool_sendfile_dirs_set(cmd_parms *cmd, void *dir_, int argc,
                                      char *const argv[])
{
    apppool_dir_t *dir = dir_;
    apppool_sendfile_t *set = apr_pcalloc(cmd->pool, sizeof *set);
    const char *word = argc > 0 ? argv[0] : "", *path, *wrong;
    apppool_sendfile_dir_t *one;
    int i;

    wrong = apppool_value_check(cmd, dir, cmd->info, word);
    if (wrong)
        return wrong;
    set->on = !ap_cstr_casecmp(word, "On");
    if (!set->on && ap_cstr_casecmp(word, "Off"))
        return apr_psprintf(cmd->pool, "%s: \"%s\" is neither On nor Off",
                            cmd->cmd->name, word);
    if (!set->on && argc > 1)
        return apr_psprintf(cmd->pool, "%s: Off takes no directories",
                            cmd->cmd->name);
    set->dirs = apr_array_make(cmd->pool, argc, sizeof(apppool_sendfile_dir_t));
    for (i = 1; i < argc; i++) {
        wrong = apppool_value_check(cmd, dir, cmd->info, argv[i]);
        if (wrong)
            return wrong;
        path = ap_server_root_relative(cmd->pool, argv[i]);
        if (!path || !strcmp(path, "/"))
            return apr_psprintf(cmd->pool, "%s: \"%s\" is not a path%s",
                                cmd->cmd->name, argv[i],
                                path ? " below /" : "");
        one = apr_array_push(set->dirs);
        one->name = path;
        one->real = apppool_sendfile_dirs_real(cmd->pool, path);
    }
    dir->sendfile = set;
    return NULL;
}
