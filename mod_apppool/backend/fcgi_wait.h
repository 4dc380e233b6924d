/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file fcgi_wait.h
 * @brief Waits for the app and the client of a request over FastCGI, scgi or
 *        uwsgi, and reads what the app has sent.
 *
 * If only the app is waited for, recv() waits and reads in one system call. The
 * next apppool_fcgi_wait_receive() then returns what it has read.
 *
 * Lock:  none; it belongs to one request.
 * Crash: not concerned.
 * Trust: the app may send any bytes, at any time. They are not looked at here.
 */
#ifndef MOD_APPPOOL_BACKEND_FCGI_WAIT_H
#define MOD_APPPOOL_BACKEND_FCGI_WAIT_H

#include <poll.h>

#include "mod_apppool/backend/fcgi_end.h"

/** Wait until the app or the client does something.
 * @param fds two: of the app, and of the client
 * @param ms  to wait at most
 * @return 0: nobody does anything yet */
int apppool_fcgi_wait(apppool_client_cgi_t *fcgi, struct pollfd *fds, int ms);

/** The same, and nothing is read. */
int apppool_fcgi_wait_poll(apppool_client_cgi_t *fcgi, struct pollfd *fds,
                           int ms);

/** Read what is there, if the wait has not done so. Never waits.
 * @return as recv() */
ssize_t apppool_fcgi_wait_receive(apppool_client_cgi_t *fcgi);

#endif
