/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file command_list.h
 * @brief What may be asked over the control socket, and the answers.
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
 * A question is one line of words with a tab between them; a word has no
 * control character. An answer is a JSON object: what was asked for, or
 * {"ok": true, "text": SENTENCE, ...} when something was done, or
 * {"error": SENTENCE} when it was not.
 *
 * Trust: whoever asks is known by the kernel's word; what he says is checked
 *        before it is looked up, and only looked up.
 */
#ifndef APPPOOL_SPAWNER_CONTROL_COMMAND_LIST_H
#define APPPOOL_SPAWNER_CONTROL_COMMAND_LIST_H

#include "spawner/control/command.h"

/**
 * Answer a line.
 * @param line  where its newline stands, is written to
 * @param order zeroed; or what is to make the answer in a child (status_job.h)
 * @return NULL: order->make is set
 */
json_t *command_list_run(spawner_t *s, char *line, size_t length,
                         const command_client_t *who,
                         status_job_order_t *order);

#endif
