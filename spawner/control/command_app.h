/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file command_app.h
 * @brief Verbs of apppoolctl about one app, which its name, its short name or
 *        its AppRoot names.
 *
 * Errors: a refusal; nothing was done then.
 * Trust:  as in command.h.
 */
#ifndef APPPOOL_SPAWNER_CONTROL_COMMAND_APP_H
#define APPPOOL_SPAWNER_CONTROL_COMMAND_APP_H

#include "spawner/control/command.h"

/** Out of service, until it is restarted. */
json_t *command_app_drain(command_t *q);

/** Its minimum runs, and at least one process. */
json_t *command_app_start(command_t *q);

/** Its code is loaded anew. The answer has the ids of the processes that run
 * the old one. */
json_t *command_app_restart(command_t *q);

/** What it printed last, from the line on that a third word numbers. */
json_t *command_app_logs(command_t *q);

/** All its directives: what holds, and where that was said. */
json_t *command_app_show(command_t *q);

#endif
