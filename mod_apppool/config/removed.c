/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/config/removed.h"

#include <apr_strings.h>

const char *apppool_removed(cmd_parms *cmd, void *dir, const char *args)
{
    (void)dir;
    (void)args;
    return apr_pstrcat(cmd->pool, cmd->cmd->name, ": ", (const char *)cmd->info,
                       NULL);
}
