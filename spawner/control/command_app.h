/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file command_app.h
 * @brief Commands of apppoolctl about one app. Its name, its short name or its
 *        AppRoot names it.
 *
 * Errors: a refusal; nothing was done then.
 * Trust:  as in command.h.
 */
#ifndef APPPOOL_SPAWNER_CONTROL_COMMAND_APP_H
#define APPPOOL_SPAWNER_CONTROL_COMMAND_APP_H

#include "spawner/control/command.h"

/** Take the app out of service, until it is restarted. */
json_t *command_app_drain(command_t *q);

/** Start its minimum of processes, and at least one. */
json_t *command_app_start(command_t *q);

/** Restart it, so that new processes load its code. The response has the ids of
 * the processes that run the old code. */
json_t *command_app_restart(command_t *q);

/** What it printed last, beginning with the line whose number is the third
 * word. */
json_t *command_app_logs(command_t *q);

/** All its directives: the values, and where in the configuration they are. */
json_t *command_app_show(command_t *q);

#endif
