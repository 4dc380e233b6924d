/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file show.h
 * @brief What the server answered, for people: a function for each kind of
 *        answer.
 *
 * Errors: an exit status; the reason was printed.
 * Trust:  keys that are missing are shown as "-"; texts are printed without
 *         control characters.
 */
#ifndef APPPOOL_CTL_SHOW_H
#define APPPOOL_CTL_SHOW_H

#include <jansson.h>

int show_status(const json_t *o);
int show_check(const json_t *o);
int show_report(const json_t *o);
int show_settings(const json_t *o);

/** A sentence says what was done. */
int show_done(const json_t *o);

/**
 * Print an answer.
 * @param raw     1: as it is
 * @param show_as one of those above
 */
int show_answer(const char *answer, int raw,
                int (*show_as)(const json_t *answer));

#endif
