/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file detect.h
 * @brief Find out from an app's files which command runs it: one table.
 *
 * Looks into the current directory, with the rights of the app's user.
 *
 * Trust: the files are the app's own; so is what they make run.
 */
#ifndef APPPOOL_SPAWNER_SHARED_DETECT_H
#define APPPOOL_SPAWNER_SHARED_DETECT_H

#include <stddef.h>
#include <stdint.h>

#include "shm/format/format.h"

#define DETECT_MAX 1024 /* of a command, and of a sentence */

/** What the configuration says of the app. */
typedef struct {
    uint32_t listen;      /**< APL_LISTEN_*: where it has to */
    uint32_t protocol;    /**< APL_HTTP ..., or APL_AUTO */
    uint32_t concurrency; /**< requests that a process gets at once; 0: any;
                               or APL_CONCURRENCY_AUTO */
} detect_config_t;

typedef struct {
    uint32_t protocol;        /**< APL_HTTP ... */
    uint32_t concurrency;     /**< 0: any number */
    char file[256];           /**< that decided */
    char command[DETECT_MAX]; /**< that runs the app; see boot.c for % */
    char why[DETECT_MAX];     /**< it, or why there is none; a clause */
} detect_found_t;

/** @return 1: found; 0: no file tells, `why` is filled in */
int detect_command(const detect_config_t *config, detect_found_t *found);

/** The same for a command that is given: only its first words tell. Its number
 * of requests is that of the command, and not config->concurrency, which a
 * reload may change. */
void detect_given(const detect_config_t *config, const char *command,
                  detect_found_t *found);

/**
 * What the names of the files alone say, for a warning. Nothing is opened.
 * @param file filled in: the name that decides
 * @return APL_HTTP ..., or APL_AUTO: they say nothing
 */
uint32_t detect_protocol(const char *dir, const char **file);

#endif
