/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file routing.h
 * @brief Decides what serves a request: the application, httpd, or another
 *        module.
 *
 * httpd serves a GET of a file of DocumentRoot. Other modules serve requests
 * that were configured for them (SetHandler, Alias to a script, ProxyPass). The
 * application serves everything else under an AppRoot. A virtual host with an
 * AppRoot and without a DocumentRoot of its own has no files; its requests do
 * not walk through the file system.
 *
 * For a directory, mod_dir serves its index, or redirects to the URL with a
 * slash. It gets the directory only if there is an index that takes the method
 * of the request. Otherwise a form that was sent would be lost. mod_dir looks
 * for the index itself, because only mod_dir knows the names of indexes.
 *
 * A request of the application loses the headers that its client must not send
 * (untrusted_headers.h). All other requests keep them.
 *
 * Lock:  none.
 * Crash: not concerned.
 * Trust: httpd checked the client's request.
 */
#ifndef MOD_APPPOOL_REQUEST_ROUTING_H
#define MOD_APPPOOL_REQUEST_ROUTING_H

#include <httpd.h>

/** r->handler of a request of the application. */
#define APPPOOL_HANDLER "apppool-app"

/* The hooks. */
int apppool_routing_translate(request_rec *r);
int apppool_routing_map_to_storage(request_rec *r);
int apppool_routing_header_parser(request_rec *r);
int apppool_routing_type_checker(request_rec *r);
int apppool_routing_before_index(request_rec *r);
int apppool_routing_fixups(request_rec *r);

#endif
