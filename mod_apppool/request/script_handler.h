/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file script_handler.h
 * @brief What runs a script of PHP: the application, or a handler of httpd.
 *
 * The scripts of an application that speaks FastCGI belong to the pool,
 * although the configuration that comes with mod_php or php-fpm names a handler
 * for all scripts of the server. Such a handler would run them as httpd's user
 * or as another one. So it is overruled if all this is true:
 *
 *  * it would run PHP
 *  * the application may run the script (cgi_variables.h)
 *  * it was set outside of the mount's own sections (php_verdict.h), or in
 *    .htaccess
 *
 * Where the configuration turns PHP off, a script is not run, and it is not
 * sent to clients. A handler that is not overruled may leave the request to
 * httpd itself, which would send the source. Then the client gets 403, too.
 *
 * Lock:  none. Threads of a child share what they know of an app: a word that
 *        is written as a whole.
 * Trust: .htaccess is a user's. It can turn PHP off. A handler that is set
 *        there does not count.
 */
#ifndef MOD_APPPOOL_REQUEST_SCRIPT_HANDLER_H
#define MOD_APPPOOL_REQUEST_SCRIPT_HANDLER_H

#include <httpd.h>

#include "mod_apppool/config/config.h"

/** Does the app run scripts of PHP? */
int apppool_script_handler_speaks_fcgi(const request_rec *r,
                                       const apppool_app_t *app);

/** Take away the handler of a script if it is overruled. What is left is what
 * the other sections say: none, or another handler. */
void apppool_script_handler_settle(request_rec *r,
                                   const apppool_mount_t *mount);

/** The application is about to get the request. Is it a script that is not to
 * be run?
 * @return OK; HTTP_FORBIDDEN: it is, and the log says why */
int apppool_script_handler_admit(request_rec *r, const apppool_mount_t *mount);

/** The hook: the last handler before that of httpd, which sends files. */
int apppool_script_handler_keep_source(request_rec *r);

#endif
