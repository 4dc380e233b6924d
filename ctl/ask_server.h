/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file ask_server.h
 * @brief Sends one command to the spawner of a running httpd. If there is no
 *        response, it prints why.
 *
 * Errors: an exit status; the reason was printed.
 */
#ifndef APPPOOL_CTL_ASK_SERVER_H
#define APPPOOL_CTL_ASK_SERVER_H

#include <jansson.h>

#include "base/contract.h"

/** Exit statuses: success; refused or failed; wrong usage; no httpd responds;
 * something is wrong with the pool. */
enum { EXIT_OK, EXIT_NO, EXIT_USAGE, EXIT_NOT_RUNNING, EXIT_PROBLEM };

/** Where runtime directories are searched. */
#define ASK_WHERE APPPOOL_RUNTIME_DIR "/" CONTRACT_PREFIX "*"

/** Print a sentence to standard error, without control characters. @return
 * status */
int ask_complain(int status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Write standard output. @return status; EXIT_NO: it cannot be written, and
 * that was printed */
int ask_flush(int status);

/** Find the httpd that is meant. If *dir is NULL, it is filled in from the
 * environment, or else with the only directory of ASK_WHERE. *dir is never
 * freed. */
int ask_directory(const char **dir);

/** As ask_directory(), but no reason is printed. */
int ask_directory_silently(const char **dir);

/** The path of a file: DIR/current/NAME, or else DIR/NAME. During an upgrade a
 * directory has several instances, and `current` leads to the newest one.
 * @return 0: the path is too long */
int ask_path(const char *dir, const char *name, char *path, size_t size);

/** Send a command. @param response to be freed */
int ask_server(const char *dir, const char *const *words, int n,
               char **response);

/** Send a command as ask_server() does, and print no reason: for a caller that
 * asks again and again. */
int ask_silently(const char *dir, const char *const *words, int n,
                 char **response);

/**
 * Ask for the status.
 * @param silently 1: print no reason, for a caller that asks again and again
 *                 and prints itself what a missing response means
 * @param report   to be released; NULL if the response is not JSON
 */
int ask_status(const char *dir, int silently, json_t **report);

/** Print why the response to "status" is not the report of the whole pool.
 * @return EXIT_NO */
int ask_complain_report(const json_t *response);

#endif
