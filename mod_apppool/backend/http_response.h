/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file http_response.h
 * @brief The header that an app sends over HTTP becomes the header of the
 *        response, as mod_proxy_http would make it.
 *
 * What holds for one connection only is dropped (RFC 9110, section 7.6.1).
 * ProxyPassReverse and its relatives, ProxyVia and ProxyErrorOverride count.
 * The header may be the one of an interim response (1xx), which the variable
 * proxy-interim-response suppresses.
 *
 * Trust: the parser has checked the form of the fields (http_parser.h). httpd
 *        checks the values of a response before they are sent, and this file
 *        those of an interim response.
 */
#ifndef MOD_APPPOOL_BACKEND_HTTP_RESPONSE_H
#define MOD_APPPOOL_BACKEND_HTTP_RESPONSE_H

#include <httpd.h>

#include "mod_apppool/backend/http_parser.h"

/** Take over the header that the parser has read.
 * @param closes set to 1 if the app says that it closes the connection */
void apppool_http_response_take(request_rec *r,
                                const apppool_http_parser_t *parser,
                                int *closes);

/** Send an interim response, if the client may get it. */
void apppool_http_response_interim(request_rec *r,
                                   const apppool_http_parser_t *parser);

/** The response has ended: take over the trailer, if there is one. */
void apppool_http_response_trailer(request_rec *r,
                                   const apppool_http_parser_t *parser);

#endif
