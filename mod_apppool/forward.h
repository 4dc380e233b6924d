/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file forward.h
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
 * X-Forwarded-For, -Host and -Server are mod_proxy's; X-Forwarded-Proto is
 * set to https where the client speaks TLS with this httpd.
 *
 * Lock:  none.
 * Crash: not concerned.
 * Trust: what the client says and should not is taken away before httpd's own
 *        modules add to it, so that what the administrator sets stays:
 *        headers of these names; names with anything but letters, digits and
 *        '-', which an app may take for another; and what it makes of
 *        Connection a list of headers to be taken away. But X-Forwarded-Proto
 *        may come from another proxy before us, so it stays on a connection
 *        without TLS.
 */
#ifndef APPPOOL_FORWARD_H
#define APPPOOL_FORWARD_H

#include <httpd.h>

/** Take away what the client has no business to say. */
void apppool_forward_clean(request_rec *r);

/**
 * Set the headers for the app.
 * @param protocol APL_HTTP ...; but for http the prefix is SCRIPT_NAME
 */
void apppool_forward_headers(request_rec *r, const char *base_uri,
                             apr_int64_t protocol);

/** The path of the URL, below the mount: "/" and more. */
const char *apppool_forward_path(const request_rec *r, const char *base_uri);

/**
 * The URL for mod_proxy's canon handler, which is told whether the path is
 * encoded. Its host is never resolved: it becomes the Host header.
 */
char *apppool_forward_url(request_rec *r, const char *scheme,
                          const char *base_uri);

#endif
