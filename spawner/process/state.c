/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/process/state.h"

spawner_t *state_spawner(void)
{
    static spawner_t spawner;

    return &spawner;
}
