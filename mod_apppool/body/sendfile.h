/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file sendfile.h
 * @brief X-Sendfile: an app names a file, and httpd sends it, with ranges and
 *        conditions as for any file.
 *
 * `X-Sendfile-Type: X-Sendfile` tells the app that it may name a file. Rack
 * needs it. The app's own body is not used.
 *
 * Trust: the app chooses the name, and httpd's user opens the file. httpd's
 *        user may read files that the app may not. So the opened file has to be
 *        a plain file that is really below AppRoot or a directory of
 *        AppSendFile: links are followed first, and the opened file is checked,
 *        not its name. The places of these directories were found when the
 *        configuration was read, because the app may be able to move them. In
 *        their new places, the app may name files of its own user. A file is
 *        never mapped into memory, because the app may truncate it meanwhile.
 */
#ifndef MOD_APPPOOL_BODY_SENDFILE_H
#define MOD_APPPOOL_BODY_SENDFILE_H

#include <httpd.h>
#include <apr_buckets.h>

#include "mod_apppool/config/app.h"

/** Tell the app that it may name files, if the configuration allows it. */
void apppool_sendfile_offer(request_rec *r);

/**
 * Does the response name a file? The header that does is removed from it.
 * @param error status that an ErrorDocument is for, or 0
 * @return the name; NULL: it names none, or may not name one
 */
const char *apppool_sendfile_name(request_rec *r, int error);

/**
 * Replace the response by this file.
 * @param bb emptied, then filled: the file, or an error, and the end
 */
void apppool_sendfile_replace(request_rec *r, const apppool_app_t *app,
                              const char *name, apr_bucket_brigade *bb);

#endif
