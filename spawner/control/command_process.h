/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file command_process.h
 * @brief Commands of apppoolctl about one process, which its id names.
 *
 * Errors: a refusal; nothing was done then.
 * Trust:  as in command.h.
 */
#ifndef APPPOOL_SPAWNER_CONTROL_COMMAND_PROCESS_H
#define APPPOOL_SPAWNER_CONTROL_COMMAND_PROCESS_H

#include "spawner/control/command.h"

/** End it after the requests that it has. */
json_t *command_process_detach(command_t *q);

/** End it together with the requests that it has. */
json_t *command_process_kill(command_t *q);

#endif
