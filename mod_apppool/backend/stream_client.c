/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/backend/stream_client.h"

#include <http_log.h>
#include <poll.h>
#include <util_filter.h>

#include "mod_apppool/backend/client_socket.h"

APLOG_USE_MODULE(apppool);

void apppool_stream_client_begin(apppool_stream_client_t *client,
                                 request_rec *r, const char *label,
                                 int has_events)
{
    int is_stream = r->connection->master != NULL;

    if (!has_events && !is_stream)
        return;
    client->r = r;
    client->label = label;
    client->has_events = has_events;
    client->fd = apppool_client_socket(r->connection);
    if (client->fd >= 0)
        client->bb = apr_brigade_create(r->pool, r->connection->bucket_alloc);
}

int apppool_stream_client_is_there(const apppool_stream_client_t *client)
{
    return client->r != NULL;
}

/* The client has sent something. Over TLS this may be its end. What it is stays
 * for the next request. If mod_reqtimeout does not let us read, it is not
 * known. */
static int reads_end(apppool_stream_client_t *client)
{
    conn_rec *c = client->r->connection;
    apr_status_t rv = ap_get_brigade(c->input_filters, client->bb,
                                     AP_MODE_SPECULATIVE, APR_NONBLOCK_READ, 1);

    client->has_sent = rv == APR_SUCCESS ? !APR_BRIGADE_EMPTY(client->bb)
                                         : APR_STATUS_IS_TIMEUP(rv);
    apr_brigade_cleanup(client->bb);
    return rv != APR_SUCCESS && !APR_STATUS_IS_EAGAIN(rv) &&
           !APR_STATUS_IS_TIMEUP(rv);
}

/* What the client has sent is read once. Behind it, only a FIN is seen. */
static int has_ended(apppool_stream_client_t *client)
{
    struct pollfd end = {client->fd, POLLRDHUP, 0};

    if (!client->has_sent)
        end.events |= POLLIN;
    if (poll(&end, 1, 0) != 1)
        return 0;
    return (end.revents & ~POLLIN) != 0 || reads_end(client);
}

int apppool_stream_client_look(apppool_stream_client_t *client)
{
    return client->fd >= 0 && has_ended(client);
}

int apppool_stream_client_has_left(apppool_stream_client_t *client)
{
    conn_rec *c = client->r ? client->r->connection : NULL;

    if (!c || (!c->aborted && !apppool_stream_client_look(client)))
        return 0;
    c->aborted = 1;
    if (client->is_noted)
        return 1;
    client->is_noted = 1;
    ap_log_rerror(APLOG_MARK, APLOG_INFO, 0, client->r,
                  "apppool: %s: the client has left %s", client->label,
                  client->has_events ? "its event stream"
                                     : "before the end of the response");
    return 1;
}
