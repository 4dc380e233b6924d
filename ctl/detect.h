/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file detect.h
 * @brief apppoolctl detect DIR: what would be run there, and why. Asks no
 *        httpd.
 *
 * Trust: the directory is an app's. It is looked at with its owner's rights,
 *        which is what the spawner does where no AppUser is set.
 */
#ifndef APPPOOL_CTL_DETECT_H
#define APPPOOL_CTL_DETECT_H

/**
 * Print it. The process has another user and directory then.
 * @param raw as JSON
 * @return NULL: a file tells; or the sentence that says why not
 */
const char *detect_print(const char *dir, int raw);

#endif
