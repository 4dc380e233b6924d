/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file program_of.h
 * @brief Which program a command runs: behind `env`, `bundle exec`, `uv run`,
 *        `python3 -m` and the like. And what to run in place of a development
 *        server.
 */
#ifndef APPPOOL_DETECT_PROGRAM_OF_H
#define APPPOOL_DETECT_PROGRAM_OF_H

#include "detect/shell_line.h"

#define PROGRAM_OF_MAX 64

typedef struct {
    char name[PROGRAM_OF_MAX]; /**< without its directory; a module of python -m
                                    has its own name */
    size_t from;               /**< its first word, with what starts it */
    size_t after;              /**< its first word behind what starts it */
    size_t word;               /**< the word that names it */
    const char *starter;       /**< what starts it as a child process; NULL */
    const char *advice;        /**< what to do about that */
    int is_found;              /**< what starts it only finds it: that is no
                                    child process */
} program_of_t;

/** @param read of the line, understood
 * @return 0: there is none, or its name is not known */
int program_of(const char *line, const shell_line_t *read,
               program_of_t *program);

/** @return a clause, what to run in production; NULL: it is no development
 * server */
const char *program_of_production(const char *line, const shell_line_t *read,
                                  const program_of_t *program);

#endif
