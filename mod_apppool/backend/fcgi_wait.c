/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/backend/fcgi_wait.h"

#include <errno.h>
#include <sys/socket.h>

int apppool_fcgi_wait_poll(apppool_client_cgi_t *fcgi, struct pollfd *fds,
                           int ms)
{
    if (poll(fds, 2, ms) <= 0)
        return 0;
    fcgi->is_complete = fcgi->is_bare && fcgi->local &&
                        (fds[0].revents & (POLLHUP | POLLERR)) == POLLHUP;
    return 1;
}

/* If only the app is waited for, recv() can do that, too. After its time it is
 * for poll() to wait. */
int apppool_fcgi_wait(apppool_client_cgi_t *fcgi, struct pollfd *fds, int ms)
{
    if (!fcgi->connection.waits || fds[0].events != POLLIN ||
        fcgi->sending.waits)
        return apppool_fcgi_wait_poll(fcgi, fds, ms);
    fcgi->received = recv(fcgi->connection.fd, fcgi->buffer + fcgi->held,
                          APPPOOL_FCGI_BUFFER - fcgi->held, 0);
    fcgi->received_error = errno;
    fcgi->has_received =
        fcgi->received >= 0 || (errno != EAGAIN && errno != EINTR);
    fcgi->connection.waits = fcgi->has_received;
    return fcgi->has_received;
}

ssize_t apppool_fcgi_wait_receive(apppool_client_cgi_t *fcgi)
{
    if (!fcgi->has_received)
        return recv(fcgi->connection.fd, fcgi->buffer + fcgi->held,
                    APPPOOL_FCGI_BUFFER - fcgi->held, MSG_DONTWAIT);
    fcgi->has_received = 0;
    errno = fcgi->received_error;
    return fcgi->received;
}
