/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file detect_procfile.h
 * @brief The commands that somebody wrote down: in a Procfile, or as the start
 *        script of a package.json.
 */
#ifndef APPPOOL_DETECT_DETECT_PROCFILE_H
#define APPPOOL_DETECT_DETECT_PROCFILE_H

#include "detect/detect_file.h"

/** The `web:` line of a Procfile. For `npm start` and the like, the script of
 * package.json (package_script.h). */
detect_file_t detect_file_procfile;

/** The start script of a package.json. */
detect_file_t detect_file_package;

#endif
