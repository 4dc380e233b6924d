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
 * (untrusted_headers.h). All other requests keep them. One rule makes sure of
 * that: apppool_routing_admit(), in the handler, which every request of the
 * application passes: also the target of an internal redirect, a subrequest,
 * and a request that SetHandler or a rewrite rule gives to the application. It
 * also checks method and script. Where the application is known earlier, the
 * headers are removed earlier: rules of access, rewrite rules and RequestHeader
 * in its place do not see them, and can add nothing to them.
 *
 * Trust: httpd checked the client's request.
 */
#ifndef MOD_APPPOOL_REQUEST_ROUTING_H
#define MOD_APPPOOL_REQUEST_ROUTING_H

#include <httpd.h>

#include "mod_apppool/config/config.h"

/** r->handler of a request of the application. */
#define APPPOOL_HANDLER "apppool-app"

/** May the application get this request? Removes what its client must not send.
 * @return OK, or an HTTP_* for the client */
int apppool_routing_admit(request_rec *r, const apppool_mount_t *mount);

/* The hooks. */
int apppool_routing_translate(request_rec *r);
int apppool_routing_map_to_storage(request_rec *r);
int apppool_routing_post_perdir_config(request_rec *r);
int apppool_routing_before_index(request_rec *r);
int apppool_routing_fixups(request_rec *r);

#endif
