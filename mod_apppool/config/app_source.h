/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file app_source.h
 * @brief Which files of an AppRoot httpd may send, where the directory that
 *        httpd serves is AppRoot itself or contains it.
 *
 * There, the code and the secrets of the application are among the files. So
 * httpd sends
 *
 *  - no name that begins with a dot, except .well-known
 *  - what is known to be static: public/, static/ and more
 *  - of an application that is PHP, everything else that is not known to be
 *    secret. Its scripts are run, and its images may be anywhere
 *  - of other applications, nothing else
 *
 * A directory below AppRoot that the configuration serves is the word of the
 * administrator, and so is AppServeSource On.
 *
 * Trust: the names belong to the client, and the files to the application. An
 *        application decides by its own files whether it is PHP, which concerns
 *        only these files.
 */
#ifndef MOD_APPPOOL_CONFIG_APP_SOURCE_H
#define MOD_APPPOOL_CONFIG_APP_SOURCE_H

#include "mod_apppool/config/app.h"

/**
 * May httpd send this file?
 * @param path below AppRoot: "config/database.yml"
 */
int apppool_app_source_may_send(const apppool_app_t *app, const char *path);

/** Say at the start what is not sent, as far as DocumentRoot and Alias tell:
 * once for each application, and for the first ones only. */
void apppool_app_source_report(apr_pool_t *p);

#endif
