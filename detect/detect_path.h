/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file detect_path.h
 * @brief Finds from the files of an app where its programs are: which
 *        directories of its own stand in PATH before the standard ones, and
 *        which variables belong to them. It does not matter whether the command
 *        comes from AppCommand, from a Procfile, or from other files.
 *
 * For another language: write a rule, which calls detect_path_before() and
 * detect_path_set(), and add it to the list in detect_path.c. A rule looks at
 * the current directory, which is AppRoot, and below `home`, with the rights of
 * the app's user.
 *
 * Errors: what does not fit, or has no memory, is left out.
 * Trust:  the files belong to the app, and so do the programs that they name.
 *         AppEnvFile and AppSetEnv replace the variables.
 */
#ifndef APPPOOL_DETECT_DETECT_PATH_H
#define APPPOOL_DETECT_DETECT_PATH_H

#include <limits.h>

#define DETECT_PATH_STANDARD                                                   \
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
#define DETECT_PATH_VARIABLES 8 /* that rules may set */

typedef struct {
    char root[PATH_MAX]; /**< AppRoot, as getcwd() names it */
    const char *home;    /**< of the app's user */
    const char *rbenv;   /**< RBENV_ROOT of the app; NULL: not set */
    char path[PATH_MAX]; /**< the value of PATH */
    char *variables[DETECT_PATH_VARIABLES + 1]; /**< NAME=value, of malloc();
                                                     NULL behind the last */
} detect_path_t;

/** @param rbenv_root RBENV_ROOT of the app, or NULL. It stays the caller's, as
 *                  `home` does */
void detect_path(const char *home, const char *rbenv_root,
                 detect_path_t *found);

/** For a rule: put a directory before PATH, but behind those that earlier calls
 * have put there. */
void detect_path_before(detect_path_t *found, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** For a rule: set a variable, NAME=value. */
void detect_path_set(detect_path_t *found, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Free the variables. */
void detect_path_free(detect_path_t *found);

#endif
