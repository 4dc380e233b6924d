/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file command.h
 * @brief One question of apppoolctl: who asks, its words, and the app or the
 *        process that a word names.
 *
 * Errors: a refusal, {"error": SENTENCE}, which the asker gets.
 * Trust:  who asks is the kernel's word (SO_PEERCRED). A word is looked up and
 *         nothing else. A user finds the apps that run as that user; of others
 *         the user learns no more than of names that do not exist.
 */
#ifndef APPPOOL_SPAWNER_CONTROL_COMMAND_H
#define APPPOOL_SPAWNER_CONTROL_COMMAND_H

#include <jansson.h>

#include "spawner/control/status_job.h"
#include "spawner/state/state.h"

#define QUESTION_WORDS 3

/** Who asks. */
typedef struct {
    uid_t uid;
    int is_root;  /**< may ask for everything */
    int is_httpd; /**< may see the status of all apps */
} asker_t;

typedef struct {
    spawner_t *s;
    apr_pool_t *p;
    asker_t who;
    char *words[QUESTION_WORDS];
    int n;
    answer_order_t order; /**< make: the answer takes its time */
} question_t;

/** A refusal. */
json_t *question_refuse(const question_t *q, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** The refusal while the pool's lock is not to be had. */
json_t *question_later(const question_t *q);

/** For the log: "apppoolctl", or "apppoolctl, user 1000". */
const char *question_by(const question_t *q);

/** May the asker see and restart this app? @param a NULL: no */
int question_may(const asker_t *who, const table_app_t *a);

/** The app that the second word names: by its name, or by the log's short one
 * or its AppRoot, where only one app has that. @return NULL: *refusal is set */
const table_app_t *question_app(const question_t *q, json_t **refusal);

/** The process whose id begins with the second word. @return NULL: *refusal is
 * set */
process_t *question_process(const question_t *q, json_t **refusal);

#endif
