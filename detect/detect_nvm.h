/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file detect_nvm.h
 * @brief Finds the version of node that an app asks for, among those that nvm
 *        has installed for its user. For detect_path.c.
 *
 * `.nvmrc` names the version, or else `.node-version`: as a number ("v20.11.1")
 * or the begin of one ("20"), of which the newest counts; as "node", the newest
 * of all; or as an alias of nvm ("lts/iron"), which is a file in ~/.nvm/alias.
 *
 * The files of the app are in the current directory.
 *
 * Trust:  all of these files belong to the app's user, and are read with that
 *         user's rights.
 */
#ifndef APPPOOL_DETECT_DETECT_NVM_H
#define APPPOOL_DETECT_DETECT_NVM_H

#include <limits.h>

/**
 * @param home  of the app's user
 * @param place filled in: the directory that has node
 * @return 0: there is no such file, or no version that fits
 */
int detect_nvm(const char *home, char place[PATH_MAX]);

#endif
