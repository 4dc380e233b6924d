/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file tunnel.h
 * @brief The two directions of an upgraded connection that has left its worker
 *        (suspend.h).
 *
 * No more is read from one side than the other side takes. The end of one
 * direction is passed on, and the other direction goes on. The tunnel ends when
 * both have ended, when the app is gone, or when an error shows that a side is
 * gone. If the process was stopped, or if this child of httpd is, a WebSocket
 * gets a Close frame between two frames of the app (websocket_close.h).
 *
 * Thread: that of a step of the pump (pump.h).
 * Trust:  both sides may send anything at any time.
 */
#ifndef MOD_APPPOOL_BACKEND_TUNNEL_H
#define MOD_APPPOOL_BACKEND_TUNNEL_H

#include "mod_apppool/backend/first_byte.h"
#include "mod_apppool/backend/websocket_close.h"
#include "mod_apppool/pump/suspend.h"

/**
 * The app has changed the protocol, and the client knows it. The connection
 * becomes a tunnel.
 * @param app   descriptor of the connection to the app, open until the end
 * @param of    the request's; what it points to lives as long as the request
 * @param early n bytes that the app has sent behind its header
 * @return 1: return SUSPENDED from the handler; 0: no pump could have it, and
 *         it has ended
 */
int apppool_tunnel_begin(request_rec *r, int app,
                         const apppool_first_byte_t *of, const char *early,
                         apr_size_t n);

#endif
