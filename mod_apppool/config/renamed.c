/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/config/renamed.h"

#include <apr_strings.h>

const char *apppool_renamed(cmd_parms *cmd, void *dir, const char *args)
{
    (void)dir;
    (void)args;
    return apr_psprintf(cmd->pool, "%s has another name now: %s",
                        cmd->cmd->name, (const char *)cmd->info);
}
