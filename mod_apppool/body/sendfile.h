/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file sendfile.h
 * @brief X-Sendfile: an app names a file, and httpd sends it, with ranges and
 *        conditions as for any file.
 *
 * The app is told by `X-Sendfile-Type: X-Sendfile` that it may (Rack asks for
 * that). Its own body is not used.
 *
 * Lock:  none.
 * Crash: not concerned.
 * Trust: the app chooses the name, and httpd's user opens it, who may read what
 *        the app may not. So what was opened has to be a plain file, really
 *        below AppRoot or a directory of AppSendFile: links are followed first,
 *        and it is the opened file that is looked at, not its name. Where those
 *        are was found out when the configuration was read: the app may be
 *        able to move them. Where they are now it may name files of its own
 *        user. A file is never mapped: the app may cut it meanwhile.
 */
#ifndef MOD_APPPOOL_BODY_SENDFILE_H
#define MOD_APPPOOL_BODY_SENDFILE_H

#include <httpd.h>
#include <apr_buckets.h>

#include "mod_apppool/config/app.h"

/** Tell the app that it may name files, if it may. */
void apppool_sendfile_offer(request_rec *r);

/**
 * Does the answer name a file? The header that does is taken out of it.
 * @param error status that an ErrorDocument is for, or 0
 * @return the name; NULL: it does not, or may not
 */
const char *apppool_sendfile_name(request_rec *r, int error);

/**
 * Make the answer one with this file.
 * @param bb emptied, then filled: the file, or an error, and the end
 */
void apppool_sendfile_replace(request_rec *r, const apppool_app_t *app,
                              const char *name, apr_bucket_brigade *bb);

#endif
