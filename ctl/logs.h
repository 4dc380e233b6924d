/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file logs.h
 * @brief apppoolctl logs: what an app printed last, and what it prints now.
 *
 * Errors: an exit status; the reason was printed.
 */
#ifndef APPPOOL_CTL_LOGS_H
#define APPPOOL_CTL_LOGS_H

/**
 * Print to standard output.
 * @param raw    1: as the server sent it
 * @param follow 1: do not end; wait for the spawner when it is started again
 */
int logs_print(const char *dir, const char *app, int raw, int follow);

#endif
