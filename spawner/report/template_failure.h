/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file template_failure.h
 * @brief One rule for a template that fails: the command of the app is
 *        executed instead. After two failures in a row there is no template
 *        until the code or the configuration changes.
 *
 * It is a failure if a template does not load, dies, forks nothing for an
 * order, or says what is not true. A row ends when a template forks a process.
 * It also ends when the command does not start either: then it was not the
 * template. Two answers are final at once: the template exits with
 * FORK_ORDER_REFUSES, or there is none for the files of the app.
 *
 * Errors: if there is no memory, nothing is remembered.
 * Crash:  the next spawner remembers nothing. So it tries to load a template.
 * Trust:  a template says why it ended by its exit code. It can only harm its
 *         own app by that.
 */
#ifndef APPPOOL_SPAWNER_REPORT_TEMPLATE_FAILURE_H
#define APPPOOL_SPAWNER_REPORT_TEMPLATE_FAILURE_H

#include "spawner/process/state.h"

/** Is no template loaded any more for this code and this configuration? */
int template_failure_forbids(const app_entry_t *a, uint64_t code);

/** The start of this template has failed. Execute the command for the starts
 * that wait for it. */
void template_failure_to_load(spawner_t *s, const process_t *t);

/** A template that was ready has failed. @return 1: it was the last one; 0 */
int template_failure_when_ready(const spawner_t *s, const process_t *t);

/** A template of this app has forked a process, or its command does not start:
 * the row has ended. */
void template_failure_row_ends(const char *app);

/** Forget the apps that are not configured any more. */
void template_failure_sweep(const spawner_t *s);

#endif
