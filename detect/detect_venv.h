/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file detect_venv.h
 * @brief The virtual environment of a Python app: venv/, .venv/ or env/.
 *
 * After the Python of the host was replaced, an environment that was made
 * before has no Python, or one that does not find its packages. Without this
 * check the Python of the host would run the app, with other packages.
 *
 * It looks at the current directory, which is AppRoot, with the rights of the
 * app's user.
 *
 * Trust: the files belong to the app.
 */
#ifndef APPPOOL_DETECT_DETECT_VENV_H
#define APPPOOL_DETECT_DETECT_VENV_H

#include <stddef.h>

/** @return the first directory whose bin/python can be executed; NULL: none */
const char *detect_venv_find(void);

/**
 * Is there an environment, which pyvenv.cfg shows, that cannot run the app? If
 * one of the others has a Python, that one counts.
 * @param why filled in: what is wrong, and what to do
 * @return 1; 0: no
 */
int detect_venv_is_broken(char *why, size_t size);

#endif
