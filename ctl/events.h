/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file events.h
 * @brief apppoolctl events: what happened, one line for each event.
 *
 * Trust: missing keys are shown as "-"; texts are printed without control
 *        characters.
 */
#ifndef APPPOOL_CTL_EVENTS_H
#define APPPOOL_CTL_EVENTS_H

/**
 * Print to standard output.
 * @param raw    a JSON object for each event
 * @param follow continue until the output is closed, also while the spawner or
 *               httpd is started again
 * @return the exit status
 */
int events_print(const char *dir, int raw, int follow);

#endif
