/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file front_controller.h
 * @brief The script of PHP that gets the paths that are no file
 *        (AppFrontController): index.php, another one, or none.
 *
 * Errors: none. A script that does not exist gets no request.
 */
#ifndef MOD_APPPOOL_REQUEST_FRONT_CONTROLLER_H
#define MOD_APPPOOL_REQUEST_FRONT_CONTROLLER_H

#include "mod_apppool/config/app.h"

/**
 * Find the script, in DocumentRoot, or where detection finds an index.php
 * (detect_table.h). If a process has none, the next look is in another second.
 * @param process   an id; 0: look now
 * @param documents where httpd looks for files; NULL: nowhere
 * @param uri       filled in: its path below the mount
 * @return its path; NULL: there is none
 */
char *apppool_front_controller_find(request_rec *r,
                                    const apppool_mount_t *mount,
                                    apr_uint64_t process, const char *documents,
                                    const char **uri);

/** Can a path that is no file be refused? With auto, only one that looks like a
 * script. */
int apppool_front_controller_concerns(const request_rec *r);

/**
 * Is a path that is no file refused? With auto, a script that does not exist
 * is, unless the application is one that has rules for all paths: there is a
 * .htaccess, or a file of a known framework.
 */
int apppool_front_controller_refuses(request_rec *r,
                                     const apppool_mount_t *mount,
                                     const char *documents);

#endif
