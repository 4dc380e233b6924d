/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file document_root.h
 * @brief Saves the walk through DocumentRoot for requests that name no file.
 *
 * To find the <Directory> sections that apply to a request, httpd looks at each
 * directory on the way to its file. Most requests of an application have no
 * file: the first part of the URL's path does not exist below DocumentRoot. For
 * all of them httpd finds the same configuration, that of DocumentRoot. So for
 * each virtual host, the result of one walk of DocumentRoot is kept, and used
 * for these requests. Everything that protects DocumentRoot (Require,
 * authentication, headers) protects them as before. One lstat() per request
 * says whether there is such a file. If there is one, httpd walks.
 *
 * The kept result is the same as that of a new walk, because nothing in the
 * file system can change it. httpd walks as always if one of these conditions
 * is not true:
 *
 *  * no directory on the way to DocumentRoot may have an .htaccess file:
 *    AllowOverride is None from `<Directory />` on
 *  * every link on the way may be followed: FollowSymLinks, and not
 *    SymLinksIfOwnerMatch
 *  * no <DirectoryMatch> matches DocumentRoot or the path of the request
 *  * DocumentRoot exists. This is checked once a second
 *
 * Lock:  none. A mutex of the child is held while DocumentRoot is walked for
 *        the first time.
 * Trust: the configuration is root's. The client's path is compared in the form
 *        of the file name to which httpd has mapped it. httpd itself handles a
 *        path that is not canonical.
 */
#ifndef MOD_APPPOOL_REQUEST_DOCUMENT_ROOT_H
#define MOD_APPPOOL_REQUEST_DOCUMENT_ROOT_H

#include <httpd.h>

/** The hook: once in each child, before requests.
 * @param p lives as long as the child does */
void apppool_document_root_init(apr_pool_t *p, server_rec *s);

/** This request belongs to an application that a <Location> names. The hook
 * below cannot see that, because httpd does not apply <Location> sections at
 * that time. */
void apppool_document_root_note(request_rec *r);

/** The hook: the last one before httpd's own. */
int apppool_document_root_map_to_storage(request_rec *r);

#endif
