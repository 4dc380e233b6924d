/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file follow.h
 * @brief apppoolctl events and apppoolctl logs: print what is there, and then
 *        what is new, also while the spawner or httpd is started again.
 *
 * Errors: an exit status; the reason was printed.
 * Trust:  missing keys are shown as "-"; texts are printed without control
 *         characters.
 */
#ifndef APPPOOL_CTL_FOLLOW_H
#define APPPOOL_CTL_FOLLOW_H

/** What happened, one line for each event. @param raw a JSON object for each
 * event @param follow continue until the output is closed */
int follow_events(const char *dir, int raw, int follow);

/** What an app printed last. @param raw as the server sent it @param follow
 * continue until the output is closed, or the app is gone */
int follow_logs(const char *dir, const char *app, int raw, int follow);

#endif
