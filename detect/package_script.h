/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file package_script.h
 * @brief The line of the shell for which `npm start`, `npm run NAME` and the
 *        like of yarn and pnpm stand, from package.json.
 *
 * npm runs a script as a child process, which gets no socket and no signal. So
 * the module runs the script itself: with node_modules/.bin in PATH, and after
 * the script `preNAME`. The script `postNAME` would run at the end of a server,
 * and is left out.
 *
 * It reads the current directory, with the rights of the app's user.
 */
#ifndef APPPOOL_DETECT_PACKAGE_SCRIPT_H
#define APPPOOL_DETECT_PACKAGE_SCRIPT_H

#include "detect/detect_found.h"

/** If the last command of a line is such a command: the line with the script in
 * its place. What the scripts name is replaced, too.
 * @param of filled in, if the result is not NULL
 * @return malloc(); NULL: there is no such command or script */
char *package_script_of(const char *line, detect_package_t *of);

/** The start script of package.json, without its prestart script.
 * @return as package_script_of() does */
char *package_script_start(detect_package_t *of);

#endif
