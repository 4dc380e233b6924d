/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file protocol.h
 * @brief AppProtocol: the names of the protocols, and the modules of httpd that
 *        speak them. FastCGI, scgi and uwsgi are spoken here
 *        (backend/client_cgi.h), with the help of mod_proxy itself.
 */
#ifndef MOD_APPPOOL_CONFIG_PROTOCOL_H
#define MOD_APPPOOL_CONFIG_PROTOCOL_H

#include <httpd.h>

/** "http", "fcgi" ... of APL_HTTP ...; "auto" */
const char *apppool_protocol_name(apr_int64_t protocol);

/** Is it scgi or uwsgi? There, a request is a packet of variables and a body,
 * and the response ends with the connection. */
int apppool_protocol_is_bare(apr_int64_t protocol);

/**
 * Is the module loaded that speaks this protocol?
 * @return NULL: yes; or the sentence that says what to load
 */
const char *apppool_protocol_missing(apr_pool_t *p, apr_int64_t protocol);

/** The sentence that says how to load mod_proxy.
 * @param directive that needs it */
const char *apppool_protocol_missing_proxy(apr_pool_t *p,
                                           const char *directive);

#endif
