/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file command_host.h
 * @brief Commands of apppoolctl about the whole host: take it out of its load
 *        balancer, and back in (shm/verbs/health.h).
 *
 * Errors: none.
 * Trust:  as in command.h.
 */
#ifndef APPPOOL_SPAWNER_CONTROL_COMMAND_HOST_H
#define APPPOOL_SPAWNER_CONTROL_COMMAND_HOST_H

#include "spawner/control/command.h"

json_t *command_host_out(command_t *q);
json_t *command_host_in(command_t *q);

#endif
