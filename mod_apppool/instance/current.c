/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/instance/current.h"

apppool_current_t *apppool_current(void)
{
    static apppool_current_t current;

    return &current;
}
