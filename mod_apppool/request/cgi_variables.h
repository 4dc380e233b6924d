/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file cgi_variables.h
 * @brief CGI's names for the parts of a URL, for the protocols that use them:
 *        fcgi, scgi and uwsgi.
 *
 *                      SCRIPT_NAME   PATH_INFO   SCRIPT_FILENAME
 *     /shop/a/b        /shop         /a/b        AppRoot
 *
 * if the app is mounted at /shop. PHP needs a file to run. Over fcgi that is a
 * file of DocumentRoot whose name ends in .php, .phtml or .phar, and otherwise
 * index.php of DocumentRoot, public/ or AppRoot, if there is one
 * (front_controller.h):
 *
 *     /old.php/a       /old.php      /a          DocumentRoot/old.php
 *     /a/b             /index.php    /a/b        DocumentRoot/index.php
 *
 * Most FastCGI apps are not PHP. If a process has no index.php, httpd looks for
 * it again in the next second, or for another process.
 *
 * httpd takes SCRIPT_NAME from r->uri and SCRIPT_FILENAME from r->filename.
 * So both have other values while the app works. They get their own values back
 * before another module sees the response. PATH_INFO in r->path_info would be
 * simpler. But then httpd would look up PATH_TRANSLATED by a walk over the
 * directories, and PHP would use it.
 *
 * Lock:  none. Threads of a child share what they know of missing files: words
 *        that are written as a whole.
 * Trust: a script that is run has the rights of the app's user. So it has to be
 *        below DocumentRoot or AppRoot, or where an Alias of the mount's own
 *        path leads. Other Aliases and UserDir lead to files of other users;
 *        such scripts are neither run nor sent to clients. Only the name is
 *        checked: FollowSymLinks says where links may lead, and a user who can
 *        make a link in those directories can also put a script there. The
 *        values are the client's.
 */
#ifndef MOD_APPPOOL_REQUEST_CGI_VARIABLES_H
#define MOD_APPPOOL_REQUEST_CGI_VARIABLES_H

#include "mod_apppool/config/app.h"
#include "shm/slots/session.h"

/** The request's own values, while CGI's values are set. */
typedef struct {
    char *uri, *path_info, *filename;
} apppool_cgi_variables_t;

/**
 * Is the file that this request names a script of the app? Such a file has to
 * be run, not sent to clients.
 * @param filename what the URL was mapped to; NULL: nothing, and it is none
 */
int apppool_cgi_variables_is_script(const request_rec *r,
                                    const apppool_mount_t *mount,
                                    const char *filename);

/** Where httpd looks for the files of this mount. @return NULL: it has none, or
 * it is not known where they are */
const char *apppool_cgi_variables_documents(request_rec *r,
                                            const apppool_mount_t *mount);

/** Where httpd looks for the file that the URL was mapped to. @return NULL:
 * nowhere */
const char *apppool_cgi_variables_place(request_rec *r, const char *base_uri,
                                        const char *filename);

/** May the app run this script? By its name; see above. */
int apppool_cgi_variables_may_run(request_rec *r, const apppool_mount_t *mount,
                                  const char *filename);

/**
 * Set the variables that the app gets.
 * @param ref      of the request's session: its process, and the protocol
 * @param filename what the URL was mapped to
 * @param own      filled in, for apppool_cgi_variables_restore()
 */
void apppool_cgi_variables_set(request_rec *r, const apppool_mount_t *mount,
                               const apl_session_ref_t *ref,
                               const char *filename,
                               apppool_cgi_variables_t *own);

/** Set the request's own values again. */
void apppool_cgi_variables_restore(request_rec *r,
                                   const apppool_cgi_variables_t *own);

#endif
