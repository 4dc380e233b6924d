/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file app_files.h
 * @brief A question about the files of an app, which costs a hundred system
 *        calls, is asked once a second by each child of httpd.
 */
#ifndef APPPOOL_MOD_CONFIG_APP_FILES_H
#define APPPOOL_MOD_CONFIG_APP_FILES_H

#include <stdint.h>

#include "mod_apppool/config/app.h"

#define APPPOOL_APP_FILES 64 /* apps whose answer a child knows */

/**
 * @param known of this question; zeros in the beginning. Any thread may use it
 * @param second of any clock
 * @return what the question gave in this second: 0 or 1
 */
int apppool_app_files_ask(uint64_t known[APPPOOL_APP_FILES],
                          int (*question)(const apppool_app_t *app),
                          const apppool_app_t *app, uint64_t second);

#endif
