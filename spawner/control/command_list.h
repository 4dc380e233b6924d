/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file command_list.h
 * @brief The commands of the control socket, and their responses.
 *
 *     status [APP]        root and httpd's user: all; a user: that user's apps
 *     restart APP HOW     root, or the app's user; HOW: rolling, blocking or
 *                         default
 *     start APP           root, or the app's user
 *     logs APP [NUMBER]   root, or the app's user
 *     report ID           root, or the app's user
 *     check               root
 *     detach ID           root
 *     kill ID             root
 *     drain APP           root
 *     show APP            root
 *
 * A command is one line of words with a tab between them; a word has no
 * control character. A response is a JSON object: the result, or
 * {"ok": true, "text": SENTENCE, ...} when something was done, or
 * {"error": SENTENCE} when it was not.
 *
 * Trust: the kernel says which user it is. The words are checked and then
 *        looked up; nothing else is done with them.
 */
#ifndef APPPOOL_SPAWNER_CONTROL_COMMAND_LIST_H
#define APPPOOL_SPAWNER_CONTROL_COMMAND_LIST_H

#include "spawner/control/command.h"

/**
 * Run the command of one line.
 * @param line  is changed; it includes its newline
 * @param order zeroed at first; filled in if a helper job has to make the
 *              response (status_job.h)
 * @return NULL: order->make is set
 */
json_t *command_list_run(spawner_t *s, char *line, size_t length,
                         const command_client_t *user,
                         status_job_order_t *order);

#endif
