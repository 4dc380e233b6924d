/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file detect_file.h
 * @brief Reads commands out of the files of an app.
 *
 * It reads the current directory, with the rights of the app's user.
 *
 * Trust: the files belong to the app, and so does the command that they name.
 */
#ifndef APPPOOL_DETECT_DETECT_FILE_H
#define APPPOOL_DETECT_DETECT_FILE_H

#include "detect/detect_found.h"

/** Is it a program of node_modules/.bin? */
int detect_file_is_of_npm(const char *name);

/**
 * Reads the command, or the last argument of the server, from found->file into
 * found->command, and writes found->why.
 * @return 0: the file has none
 */
typedef int detect_file_t(detect_found_t *found);

/** SITE/wsgi.py beside manage.py is the module SITE.wsgi of Django. */
detect_file_t detect_file_django;

/** The file itself, if its name needs no quotes in a shell; with `daemon`, the
 * command of Mojolicious that serves. */
detect_file_t detect_file_plain, detect_file_daemon;

#endif
