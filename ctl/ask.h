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

/** Exit statuses: all is well; refused, or failed; wrong usage; nobody there.
 */
enum { EXIT_OK, EXIT_NO, EXIT_USAGE, EXIT_NOT_RUNNING };

/** Where runtime directories are looked for. */
#define ASK_WHERE "/run/apache2/apppool-*"

/** Print a sentence to standard error. @return status */
int ask_complain(int status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Print none until it is told otherwise. */
void ask_be_quiet(int on);

/** Which httpd? Fills in *dir, which is never freed, if it is NULL. */
int ask_directory(const char **dir);

/** Ask. @param answer to be freed */
int ask_server(const char *dir, const char *const *words, int n, char **answer);

#endif
