/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file env_file.h
 * @brief AppEnvFile: environment variables of an app, in a file that perhaps
 *        only root can read.
 *
 *     # a comment
 *     NAME=value
 *     export NAME='value'
 *     NAME="a value with \" and \\"
 *
 * The format is the common subset of systemd's EnvironmentFile= and of .env.
 * A line that these two read in different ways is refused. doc/directives.md
 * has the whole format.
 *
 * Errors: a sentence with the file, the line and the name of the variable, but
 *         without its value.
 * Trust:  the child that becomes the app reads the file before it gives up
 *         root's rights (open_as.h). The file must belong to root or to the
 *         app's user. Nobody else may write it, or put another file in its
 *         place (approot_owner.h). With root's rights, only a file of root's is
 *         read, from a directory that only root may write. So a user cannot get
 *         a file of root's into the environment of an app, and another user
 *         cannot change that environment. The text is parsed after root's
 *         rights are given up.
 */
#ifndef APPPOOL_SPAWNER_START_ENV_FILE_H
#define APPPOOL_SPAWNER_START_ENV_FILE_H

#include "base/privilege.h"

#define ENV_FILE_MAX       65536 /* bytes of a file */
#define ENV_FILE_ERROR_MAX 512

/**
 * Read the file, as root. The process has the groups of `account` already.
 * @return its text, never freed; NULL: `error` says why
 */
char *env_file_read(const char *path, const privilege_t *account,
                    size_t *length, char error[ENV_FILE_ERROR_MAX]);

/**
 * Parse the text, with the rights of the app's user.
 * @param text is changed; the result points into it
 * @return NAME=value, NULL at the end; never freed. NULL: `error` says why
 */
char **env_file_parse(const char *path, char *text, size_t length,
                      char error[ENV_FILE_ERROR_MAX]);

#endif
