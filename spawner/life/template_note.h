/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file template_note.h
 * @brief What has to be remembered of the templates of an app: for which code
 *        and configuration none is loaded, and when templates died.
 *
 * Errors: if there is no memory, nothing is remembered.
 * Crash:  the next spawner remembers nothing. So it tries to load a template.
 * Trust:  a template says why it ended by its exit code. It can only harm its
 *         own app by that.
 */
#ifndef APPPOOL_SPAWNER_LIFE_TEMPLATE_NOTE_H
#define APPPOOL_SPAWNER_LIFE_TEMPLATE_NOTE_H

#include "spawner/state/state.h"

#define TEMPLATE_NOTE_DEATHS    3 /* within a PERIOD: none is loaded any more */
#define TEMPLATE_NOTE_PERIOD    (60 * SECOND)
#define TEMPLATE_NOTE_FRUITLESS 2 /* in a row: none is loaded any more */

enum {
    TEMPLATE_NOTE_NOTHING,
    TEMPLATE_NOTE_REFUSED, /**< none is loaded for this code */
    TEMPLATE_NOTE_BROKEN   /**< the last one said that its code does not load.
                                So the next start executes the command */
};

/** Of one app. */
typedef struct template_note {
    struct template_note *next;
    char app[APL_NAME_MAX];
    int says;             /**< TEMPLATE_NOTE_... of this: */
    uint64_t code, print; /**< code and configuration */
    int preload;          /**< CONTRACT_PRELOAD_*, by then */
    int64_t broken_at;    /**< us: the last BROKEN of it; 0: none */
    int fruitless;        /**< templates of it, in a row, that had to end
                               because they forked nothing */
    int64_t deaths[TEMPLATE_NOTE_DEATHS]; /**< us: of templates that were ready,
                                               as a ring */
    unsigned died;
} template_note_t;

/** @return NULL: there is nothing to remember of this app */
const template_note_t *template_note_find(const char *app);

/** No template is loaded any more for the code and the configuration of this
 * one. */
void template_note_refuse(const process_t *t);

/** Its code does not load. */
void template_note_broken(const process_t *t, int64_t now);

/** After BROKEN, the command of the app is executed. The start after that one
 * loads a template again. */
void template_note_executed(const char *app);

/** It died while it was ready. @return 1: it was the last one of too many, so
 * none is loaded any more; 0 */
int template_note_death(const process_t *t, int64_t now);

/** It had to end because it forked nothing. @return 1: it was the last one of
 * too many, so none is loaded any more; 0 */
int template_note_fruitless(const process_t *t);

/** It has forked a process. */
void template_note_forked(const process_t *t);

/** Forget the apps that are not configured any more. */
void template_note_sweep(const spawner_t *s);

#endif
