/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/output/log_name.h"

#include <stdio.h>

const char *log_name(const char *route, log_name_t name)
{
    if (*route == LOG_PROGRAM_ERRORLOG)
        snprintf(name, sizeof(log_name_t), "the ErrorLog of a virtual host");
    else
        snprintf(name, sizeof(log_name_t), "AppLog %s", route);
    return name;
}
