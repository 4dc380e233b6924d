/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/request/packet.h"

#include <http_log.h>

#include "mod_apppool/backend/cgi_environment.h"
#include "mod_apppool/backend/connect.h"

APLOG_USE_MODULE(apppool);

int apppool_packet_make(apppool_session_t *s)
{
    const apl_session_ref_t any = {.wire.protocol = APL_UWSGI};
    request_rec *r = s->r;
    apppool_cgi_variables_t own;

    apppool_cgi_variables_set(r, s->mount, &any, s->filename, &own);
    apppool_cgi_environment_add(r);
    apppool_cgi_variables_restore(r, &own);
    s->packet.bytes =
        apppool_uwsgi_request_make(r->pool, r->subprocess_env, &s->packet.size);
    if (s->packet.bytes) {
        /* Without it, another one is made when a process was found. */
        if (s->app->listen != APL_LISTEN_TCP && !s->packet.sock)
            apppool_connect_prepare(&s->packet.sock, r->pool);
        return OK;
    }
    ap_log_rerror(
        APLOG_MARK, APLOG_ERR, 0, r,
        "apppool: %s: the request has more than %d bytes of variables",
        s->app->label, UWSGI_MOST);
    return HTTP_REQUEST_HEADER_FIELDS_TOO_LARGE;
}
