/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/backend/fcgi_end.h"

#include <errno.h>
#include <http_log.h>
#include <http_protocol.h>

#include "mod_apppool/backend/fcgi_format.h"

APLOG_USE_MODULE(apppool);

#define SAY(fcgi, rv, ...)                                                     \
    ap_log_rerror(APLOG_MARK, APLOG_ERR, rv, (fcgi)->r, "apppool: " __VA_ARGS__)

int apppool_fcgi_end_is_lost(const apppool_client_cgi_t *fcgi)
{
    return fcgi->connection.reused &&
           (fcgi->stray ||
            (!fcgi->heard && (fcgi->closed || fcgi->sending.out.hung_up)));
}

/* May the next request use the connection? It may if this request had no body,
 * all of it was sent, and nothing has come behind its response. */
static int is_clean(const apppool_client_cgi_t *fcgi)
{
    return apppool_fcgi_parser_is_clean(&fcgi->parser) &&
           fcgi->parser.status == FCGI_REQUEST_COMPLETE &&
           fcgi->sending.kind == APPPOOL_FCGI_NO_BODY &&
           apppool_fcgi_sending_is_done(&fcgi->sending) &&
           fcgi->response.has_header;
}

void apppool_fcgi_end_use(apppool_client_cgi_t *fcgi)
{
    apppool_app_connection_end(&fcgi->connection,
                               is_clean(fcgi) ? APPPOOL_CONNECTION_CLEAN
                               : apppool_fcgi_end_is_lost(fcgi)
                                   ? APPPOOL_CONNECTION_FAILED
                                   : APPPOOL_CONNECTION_CUT);
}

int apppool_fcgi_end_response(apppool_client_cgi_t *fcgi)
{
    /* Without records the app has closed it, so nobody waits for us to close it. */
    if (!fcgi->is_bare)
        apppool_fcgi_end_use(fcgi);
    return apppool_cgi_response_end(&fcgi->response, fcgi->r);
}

int apppool_fcgi_end_early(apppool_client_cgi_t *fcgi, int status)
{
    if (fcgi->parser.stdout_ended)
        return apppool_fcgi_end_response(fcgi);
    return apppool_response_parts_break(&fcgi->response.parts, fcgi->r, status);
}

int apppool_fcgi_end_wrong(apppool_client_cgi_t *fcgi)
{
    SAY(fcgi, 0, "%s sends wrong FastCGI: %s %u", fcgi->label,
        fcgi->parser.wrong, fcgi->parser.wrong_number);
    return apppool_response_parts_break(&fcgi->response.parts, fcgi->r,
                                        HTTP_BAD_GATEWAY);
}

int apppool_fcgi_end_stray(apppool_client_cgi_t *fcgi)
{
    fcgi->stray = 1;
    ap_log_rerror(APLOG_MARK, APLOG_INFO, 0, fcgi->r,
                  "apppool: %s has sent something over its shared "
                  "connection that belongs to no request: %s %u",
                  fcgi->label, fcgi->parser.wrong, fcgi->parser.wrong_number);
    return HTTP_BAD_GATEWAY;
}

/* The app has not served the request. @return what the handler is to return */
static int end_refused(apppool_client_cgi_t *fcgi)
{
    unsigned status = fcgi->parser.status;

    SAY(fcgi, 0, "%s refuses the request: %s (FastCGI's status %u)",
        fcgi->label, apppool_fcgi_parser_refusal(&fcgi->parser), status);
    return apppool_response_parts_break(&fcgi->response.parts, fcgi->r,
                                        status == FCGI_OVERLOADED
                                            ? HTTP_SERVICE_UNAVAILABLE
                                            : HTTP_BAD_GATEWAY);
}

int apppool_fcgi_end_request(apppool_client_cgi_t *fcgi)
{
    if (fcgi->parser.status != FCGI_REQUEST_COMPLETE)
        return end_refused(fcgi);
    if (fcgi->parser.app_status != 0)
        ap_log_rerror(APLOG_MARK, APLOG_INFO, 0, fcgi->r,
                      "apppool: %s has ended the request with status %u",
                      fcgi->label, (unsigned)fcgi->parser.app_status);
    return apppool_fcgi_end_response(fcgi);
}

/* Without records the response ends with the connection. The connection is reset if
 * the app has not read the body. */
static int ends_response(const apppool_client_cgi_t *fcgi, int error)
{
    return fcgi->is_bare && fcgi->response.has_header &&
           (error == 0 || (error == ECONNRESET &&
                           fcgi->sending.kind != APPPOOL_FCGI_NO_BODY));
}

int apppool_fcgi_end_connection(apppool_client_cgi_t *fcgi, int error)
{
    if (apppool_first_byte_is_stopped(&fcgi->first_byte))
        return apppool_fcgi_end_early(fcgi, HTTP_BAD_GATEWAY);
    fcgi->closed = 1;
    fcgi->reset |= error == ECONNRESET;
    if (ends_response(fcgi, error))
        return apppool_fcgi_end_response(fcgi);
    if (fcgi->heard && !fcgi->parser.stdout_ended &&
        !apppool_first_byte_is_cut_off(&fcgi->first_byte))
        SAY(fcgi, error,
            "%s has closed the connection before the end of the response",
            fcgi->label);
    return apppool_fcgi_end_early(fcgi, HTTP_BAD_GATEWAY);
}

int apppool_fcgi_end_silent(apppool_client_cgi_t *fcgi, int status)
{
    if (fcgi->response.parts.passed && !fcgi->parser.stdout_ended)
        SAY(fcgi, 0, "%s was silent for too long within its response",
            fcgi->label);
    return apppool_fcgi_end_early(fcgi, status);
}
