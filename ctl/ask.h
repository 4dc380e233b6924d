/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file ask.h
 * @brief One question to the spawner of a running httpd, and what is said to
 *        people when there is no answer.
 *
 * Errors: an exit status; the reason was printed.
 */
#ifndef APPPOOL_CTL_ASK_H
#define APPPOOL_CTL_ASK_H

#include <jansson.h>

#include "spawner/shared/contract.h"

/** Exit statuses: all is well; refused, or failed; wrong usage; nobody there.
 */
enum { EXIT_OK, EXIT_NO, EXIT_USAGE, EXIT_NOT_RUNNING };

/** Where runtime directories are looked for. */
#define ASK_WHERE APPPOOL_RUNTIME_DIR "/" CONTRACT_PREFIX "*"

/** Print a sentence to standard error. @return status */
int ask_complain(int status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Which httpd? Fills in *dir, which is never freed, if it is NULL: from the
 * environment, else with the only directory of ASK_WHERE. */
int ask_directory(const char **dir);

/** Ask. @param answer to be freed */
int ask_server(const char *dir, const char *const *words, int n, char **answer);

/** The same, for one who asks again and again: no reason is printed. */
int ask_silently(const char *dir, const char *const *words, int n,
                 char **answer);

/**
 * Ask for the status.
 * @param silently 1: who asks again and again says himself what it means that
 *                 there is no answer
 * @param report   to be released; NULL where the answer is no JSON
 */
int ask_status(const char *dir, int silently, json_t **report);

#endif
