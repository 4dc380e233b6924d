/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file forwarded.h
 * @brief What the app is told about where the request came from.
 *
 * An app that is mounted at /shop gets the path without /shop. It is the one
 * thing that gunicorn, puma and node all route rightly without knowing of the
 * mount: Rack and node have no way to be told of a prefix that is still in
 * the path, and gunicorn takes either. So that links can be made, the prefix
 * comes as `X-Forwarded-Prefix: /shop` (werkzeug's ProxyFix, Spring, ASP.NET,
 * Traefik's convention) and in the app's environment as $APP_BASE_URI.
 * gunicorn's own `SCRIPT_NAME` header is not sent, as gunicorn then wants the
 * prefix in the path as well.
 *
 * X-Forwarded-For, -Host and -Server are mod_proxy's. X-Forwarded-Proto says
 * how the client speaks with this httpd. But what a trusted proxy before it has
 * said (untrusted_headers.h), or RequestHeader, stays as it is.
 *
 * Lock:  none.
 * Crash: not concerned.
 * Trust: the headers were cleaned; the path is the client's.
 */
#ifndef MOD_APPPOOL_REQUEST_FORWARDED_H
#define MOD_APPPOOL_REQUEST_FORWARDED_H

#include <httpd.h>

/**
 * Set the headers for the app.
 * @param protocol APL_HTTP ...; all others have the prefix in SCRIPT_NAME, and
 *                 the scheme in HTTPS
 */
void apppool_forwarded_headers(request_rec *r, const char *base_uri,
                               apr_int64_t protocol);

/** mod_proxy's hook, when it has added its headers to ours. */
int apppool_forwarded_fixups(request_rec *r);

/** The path of the URL, below the mount: "/" and more. */
const char *apppool_forwarded_path(const request_rec *r, const char *base_uri);

/**
 * The URL for mod_proxy's canon handler, which is told whether the path is
 * encoded. Its host is never resolved: it becomes the Host header.
 */
char *apppool_forwarded_url(request_rec *r, const char *scheme,
                            const char *base_uri);

#endif
