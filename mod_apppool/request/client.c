/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/request/client.h"

#include <http_protocol.h>
#include <poll.h>

#include "mod_apppool/backend/client_socket.h"

/* httpd sends it only if it is expected, and never to HTTP/1.0. */
static void send_continue(request_rec *r)
{
    int status = r->status;
    const char *line = r->status_line;

    r->expecting_100 = 1;
    r->status = HTTP_CONTINUE;
    r->status_line = NULL;
    ap_send_interim_response(r, 0);
    r->status = status;
    r->status_line = line;
}

void apppool_client_send_continue(request_rec *r)
{
    if (r->expecting_100)
        send_continue(r);
}

/* @return the events that poll() reports for the socket; 0: no socket */
static int poll_client(conn_rec *c)
{
    struct pollfd client = {apppool_client_socket(c), POLLRDHUP, 0};

    return poll(&client, 1, 0) == 1 ? client.revents : 0;
}

int apppool_client_has_left(void *data)
{
    apppool_client_t *client = data;
    conn_rec *c = client->r->connection;
    int seen = poll_client(c);

    /* It would be sent in the middle of an earlier response that is still being
     * sent. */
    if (seen & POLLRDHUP && !client->asked && !c->data_in_output_filters) {
        client->asked = 1;
        send_continue(client->r);
        seen = poll_client(c);
    }
    return c->aborted || (seen & (POLLHUP | POLLERR)) != 0;
}
