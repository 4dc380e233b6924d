/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file events.h
 * @brief apppoolctl events: what happened, a line each.
 *
 * Trust: keys that are missing are shown as "-"; texts are printed without
 *        control characters.
 */
#ifndef APPPOOL_CTL_EVENTS_H
#define APPPOOL_CTL_EVENTS_H

/**
 * Print to stdout.
 * @param raw    a JSON object for each
 * @param follow go on until the output ends: also while the spawner, or httpd,
 *               is started again
 * @return the exit status
 */
int events_print(const char *dir, int raw, int follow);

#endif
