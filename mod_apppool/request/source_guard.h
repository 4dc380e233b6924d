/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file source_guard.h
 * @brief Keeps httpd from sending the source and the secrets of an application
 *        as files (app_source.h says which).
 *
 * What a request names is found by the directory through which httpd serves it:
 * DocumentRoot, the directory of an Alias, of UserDir or of mod_vhost_alias. On
 * the way from there to the file, the last AppRoot decides. If there is none,
 * the directory is below AppRoot, or somewhere else: it is the administrator's
 * word. Directories are compared as such and not by name, so it does not matter
 * which links lead there: AppRoot may be one, and another one after the next
 * deployment.
 *
 * The work is done only if httpd would send a file, and only in a virtual host
 * that has an AppRoot. A thread knows for a second which AppRoot a directory
 * is. Otherwise each request for a file would ask the kernel about each
 * AppRoot.
 *
 * Lock:  none. What a thread knows is its own.
 * Trust: a user who may make a link in a directory that is served can lead
 *        httpd past AppRoot, to directories of that user: FollowSymLinks says
 *        where links may lead. A directory that was served before it became an
 *        AppRoot is served for up to a second more.
 */
#ifndef MOD_APPPOOL_REQUEST_SOURCE_GUARD_H
#define MOD_APPPOOL_REQUEST_SOURCE_GUARD_H

#include <httpd.h>

/** The hook after all others that choose a handler: if httpd itself would serve
 * the file. @return HTTP_NOT_FOUND: it must not */
int apppool_source_guard_fixups(request_rec *r);

/** The hook: the last handler before that of httpd. It sees files whose own
 * handler has left them. */
int apppool_source_guard_handler(request_rec *r);

#endif
