/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file command.h
 * @brief One command of apppoolctl: its user, its words, and the app or the
 *        process that a word names.
 *
 * Errors: a refusal, {"error": SENTENCE}, which apppoolctl gets.
 * Trust:  the kernel says which user it is (SO_PEERCRED). A word is only looked
 *         up. A user finds the apps that run as that user. For that user, all
 *         other apps do not exist.
 */
#ifndef APPPOOL_SPAWNER_CONTROL_COMMAND_H
#define APPPOOL_SPAWNER_CONTROL_COMMAND_H

#include <jansson.h>

#include "spawner/control/status_job.h"
#include "spawner/process/state.h"

#define COMMAND_WORDS 3

/** The user who sends the command. */
typedef struct {
    uid_t uid;
    int is_root;  /**< may send all commands */
    int is_httpd; /**< may see the status of all apps */
} command_client_t;

typedef struct {
    spawner_t *s;
    apr_pool_t *p;
    command_client_t user;
    char *words[COMMAND_WORDS];
    int n;
    status_job_order_t order; /**< make: a job has to make the response */
} command_t;

/** A refusal without a command: {"error": SENTENCE}. */
json_t *command_error(const char *sentence);

/** A refusal. */
json_t *command_refuse(const command_t *q, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** The refusal while the pool's lock cannot be taken. */
json_t *command_refuse_busy(const command_t *q);

/** For the log: "apppoolctl", or "apppoolctl, user 1000". */
const char *command_by(const command_t *q);

/** May this user see and restart the app? @param a NULL: no */
int command_may(const command_client_t *user, const app_entry_t *a);

/** The app that the second word names: by its name, or by its short name or
 * AppRoot, if only one app has that. @return NULL: *refusal is set */
const app_entry_t *command_find_app(const command_t *q, json_t **refusal);

/** The process whose id begins with the second word. @return NULL: *refusal is
 * set */
process_t *command_find_process(const command_t *q, json_t **refusal);

#endif
