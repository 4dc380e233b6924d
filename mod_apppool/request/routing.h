/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file routing.h
 * @brief Whose is a request: the app's, httpd's, or another module's?
 *
 * A GET of a file of DocumentRoot is httpd's; so are requests that something
 * else was configured to handle (SetHandler, Alias to a script, ProxyPass).
 * Everything else under an AppRoot is the app's. A virtual host with an AppRoot
 * and no DocumentRoot of its own has no files; its requests take no walk
 * through the file system.
 *
 * Of a directory mod_dir makes its index, or a redirect to the URL with a
 * slash. It may have the directory only if there is an index, and one that
 * takes the request's method; else a form would be lost. mod_dir looks for an
 * index by itself, as nobody else knows its names.
 *
 * A request that is the app's loses the headers that its client has no
 * business to send (untrusted_headers.h). Any other one keeps them.
 *
 * Lock:  none.
 * Crash: not concerned.
 * Trust: the client's request was checked by httpd.
 */
#ifndef MOD_APPPOOL_REQUEST_ROUTING_H
#define MOD_APPPOOL_REQUEST_ROUTING_H

#include <httpd.h>

/** r->handler of a request that is the app's. */
#define APPPOOL_HANDLER "apppool-app"

/* The hooks. */
int apppool_routing_translate(request_rec *r);
int apppool_routing_map_to_storage(request_rec *r);
int apppool_routing_header_parser(request_rec *r);
int apppool_routing_type_checker(request_rec *r);
int apppool_routing_before_index(request_rec *r);
int apppool_routing_fixups(request_rec *r);

#endif
