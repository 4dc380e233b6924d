/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file app_headers.h
 * @brief Headers that the app gets in addition to those of the client: where
 *        the request came from, since when it waits, and to which trace it
 *        belongs.
 *
 * An app that is mounted at /shop gets the path without /shop. This is the only
 * form that gunicorn, puma and node all route correctly without knowing about
 * the mount. Rack and node cannot learn of a prefix that is still in the path.
 * gunicorn accepts both forms. The app needs the prefix to make links. It gets
 * it as `X-Forwarded-Prefix: /shop` (the convention of werkzeug's ProxyFix,
 * Spring, ASP.NET and Traefik) and in its environment as $APP_BASE_URI. In a
 * header it is encoded, as in a URL. `X-Forwarded-Uri: /shop` is added if that
 * is the whole path: the app gets / then, and could not tell it from /shop/.
 * gunicorn's own `SCRIPT_NAME` header is not sent, because gunicorn would then
 * expect the prefix in the path as well.
 *
 * mod_proxy sets X-Forwarded-For, -Host and -Server. X-Forwarded-Proto says how
 * the client speaks with this httpd. A value from a trusted proxy before it
 * (untrusted_headers.h), or from RequestHeader, is not changed.
 *
 *     X-Request-Start: t=1763800000.123456
 *
 * is when the request began to wait for a process, in seconds with
 * microseconds; its body has been read by then. Monitoring agents that read
 * nginx's seconds, and those that read 16 digits of microseconds, agree on it.
 *
 *     traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01
 *
 * is W3C's Trace Context. A valid one is passed on; if there is none, one is
 * made (AppTraceparent). Its last field says that the trace is recorded: by
 * default, tracers drop the traces that are marked as not recorded.
 *
 * Trust: untrusted_headers.h has removed headers that the client may not send.
 *        The path is the client's. A client may put its requests into any
 *        trace, and cause them to be recorded.
 */
#ifndef MOD_APPPOOL_REQUEST_APP_HEADERS_H
#define MOD_APPPOOL_REQUEST_APP_HEADERS_H

#include "mod_apppool/config/config.h"

/**
 * Say where the request came from.
 * @param mount    where the app is
 * @param protocol APL_HTTP ...; all others get the prefix in SCRIPT_NAME, and
 *                 the scheme in HTTPS
 */
void apppool_app_headers_set_origin(request_rec *r,
                                    const apppool_mount_t *mount,
                                    apr_int64_t protocol);

/** mod_proxy's hook, after it has added its headers to ours. */
int apppool_app_headers_fixups(request_rec *r);

/** The path of the URL, below the mount: "/" and more. */
const char *apppool_app_headers_path(const request_rec *r,
                                     const char *base_uri);

/**
 * The URL for mod_proxy's canon handler. A note says whether the path is
 * encoded. Its host is never resolved: it becomes the Host header.
 */
char *apppool_app_headers_url(request_rec *r, const char *scheme,
                              const char *base_uri);

/** Say which trace the request belongs to. Call it before the body is read, so
 * that the request keeps the header for the access log. */
void apppool_app_headers_set_trace(request_rec *r);

/** Say when the request began to wait: now, unless a trusted proxy or the
 * configuration has said it. */
void apppool_app_headers_set_start(request_rec *r);

#endif
