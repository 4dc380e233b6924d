/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file detect_print.h
 * @brief apppoolctl detect DIR: what would be run in that directory, and why.
 *        It does not ask a running httpd.
 *
 * Trust: the directory belongs to an app. It is read with its owner's rights,
 *        as the spawner does if no AppUser is set.
 */
#ifndef APPPOOL_CTL_DETECT_PRINT_H
#define APPPOOL_CTL_DETECT_PRINT_H

/**
 * Print it. The process has another user and another directory afterwards.
 * @param raw as JSON
 * @return NULL: a file says how to run the app; or a sentence that says why
 *         none does
 */
const char *detect_print(const char *dir, int raw);

#endif
