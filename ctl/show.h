/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file show.h
 * @brief Show a response of the server to people: a function for each kind of
 *        response.
 *
 * Errors: an exit status; the reason was printed.
 * Trust:  missing keys are shown as "-"; texts are printed without control
 *        characters.
 */
#ifndef APPPOOL_CTL_SHOW_H
#define APPPOOL_CTL_SHOW_H

#include <jansson.h>

int show_status(const json_t *o);
int show_check(const json_t *o);
int show_report(const json_t *o);
int show_settings(const json_t *o);

/** Print the sentence that says what was done. */
int show_done(const json_t *o);

/**
 * Print a response.
 * @param raw     1: as the server sent it
 * @param show_as one of the functions above
 */
int show_response(const char *response, int raw,
                  int (*show_as)(const json_t *response));

#endif
