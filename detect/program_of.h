/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file program_of.h
 * @brief Which program a command runs: behind `env`, `bundle exec`, `uv run`,
 *        `python3 -m` and the like, and what is known of a program by its name.
 *        It reads no file.
 */
#ifndef APPPOOL_DETECT_PROGRAM_OF_H
#define APPPOOL_DETECT_PROGRAM_OF_H

#include "detect/shell_line.h"

#define PROGRAM_OF_MAX 64

/* What is known of a program. */
#define PROGRAM_ANY    1 /* it takes any number of requests at once */
#define PROGRAM_NODE   2 /* it runs on node */
#define PROGRAM_RUBY   4 /* it is Ruby, or may be */
#define PROGRAM_PYTHON                                                         \
    8                   /* a virtual environment has it, and decides about it */
#define PROGRAM_PORT 16 /* it, or its configuration, reads PORT */

typedef struct {
    char name[PROGRAM_OF_MAX]; /**< without its directory; a module of python -m
                                    has its own name */
    int is;                    /**< PROGRAM_*, also of what starts it */
    size_t from;               /**< its first word, with what starts it */
    size_t behind;             /**< the word behind the first that starts it */
    size_t after;              /**< its first word behind all that start it */
    size_t word;               /**< the word that names it */
    char starter[32];          /**< what starts it as a child process; "" */
    const char *advice;        /**< a clause, what to do about that; NULL */
    int is_found;              /**< what starts it only finds it: that is no
                                    child process */
    int is_init;               /**< what starts it only passes signals on */
} program_of_t;

/** @param read of the line; also if it is not understood
 * @return 0: there is none, or its name is not known */
int program_of(const char *line, const shell_line_t *read,
               program_of_t *program);

/** @return a clause, what to run in production; NULL: it is no development
 * server */
const char *program_of_production(const char *line, const shell_line_t *read,
                                  const program_of_t *program);

/** @return a clause, what to run in place of a program that manages others,
 * which are its child processes; NULL: it is no such program */
const char *program_of_managed(const char *line, const shell_line_t *read,
                               const program_of_t *program);

#endif
