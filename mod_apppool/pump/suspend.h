/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file suspend.h
 * @brief A connection leaves its worker: the pump moves its bytes. At its end
 *        another worker comes for it.
 *
 *     if (apppool_suspend_reserve(r))          before a handshake
 *     ...
 *     if (apppool_suspend(s, r))               a worker
 *         return SUSPENDED;                    from the handler
 *     ...
 *     s->step(s, stops)                        the pump, again and again
 *     ...
 *     finish(r, why)                           a worker, once
 *
 * httpd's MPM event keeps the connection, its memory and its counts all the
 * time. It waits for a descriptor, as for any client: the state is
 * CONN_STATE_ASYNC_WAITIO. But that descriptor is an eventfd, which takes the
 * number of the client's socket. The pump has the socket under another number
 * (wire.h), and writes to the eventfd when a worker is to come. So httpd itself
 * decides which worker comes, closes the connection with all the care that
 * others get, and counts it in its status. Nothing of httpd is destroyed from
 * here, and no thread writes what a worker may still use: the worker makes the
 * MPM wait with its last step, and what the pump wakes is that wait.
 *
 * CONN_STATE_SUSPENDED would be the usual way. httpd 2.4 has no way back from
 * it: the module would have to close the connection, and to destroy its memory,
 * and could not know whether the worker that has suspended it still writes
 * there.
 *
 * httpd closes a connection that has waited for Timeout. So the pump has a
 * worker come earlier. That worker only says that the connection waits again.
 * If all workers of the child are busy for half of Timeout, the connection ends
 * in order.
 *
 * Needed are event of httpd 2.4.63 or later, HTTP/1.1, and filters that do not
 * wait. Everything else keeps a worker, as before.
 *
 * Thread: see pump.h.
 * Trust:  httpd is checked: see rehearsal.h. If it does not do a step, this
 *         child suspends nothing from then on, and says so once.
 */
#ifndef MOD_APPPOOL_PUMP_SUSPEND_H
#define MOD_APPPOOL_PUMP_SUSPEND_H

#include <ap_mpm.h>
#include <httpd.h>

#include "mod_apppool/pump/pump.h"
#include "mod_apppool/pump/wire.h"

#ifndef AP_MPMQ_CAN_WAITIO /* httpd before 2.4.63: nothing is suspended */
#define CONN_STATE_ASYNC_WAITIO CONN_STATE_SUSPENDED
#endif

/** What is suspended. The caller sets the first part. */
typedef struct apppool_suspended_t {
    int client;      /**< number of the client's descriptor, for httpd */
    int app;         /**< descriptor of the connection to the app */
    int64_t silence; /**< us that nothing may be moved; < 0: any time */
    /** Move what can be moved: see pump.h.
     * @param stops the child ends: say goodbye to the client */
    apppool_step_t (*step)(struct apppool_suspended_t *s, int stops);
    void *ctx;
    /* Set by apppool_suspend(). */
    request_rec *r;
    apppool_wire_t wire;
    apppool_link_t *link;
} apppool_suspended_t;

/** End the request. Its response has begun.
 * @return OK, or a status, as from a handler */
typedef int apppool_suspend_finish_t(request_rec *r, apppool_link_why_t why);

/** Call it once, before the hooks of any configuration run. */
void apppool_suspend_register(apppool_suspend_finish_t *finish);

/** Call it in each httpd child. */
void apppool_suspend_begin(apr_pool_t *pchild, server_rec *s);

/** This child of httpd ends: all connections are told to.
 * @param graceful its workers serve until then */
void apppool_suspend_leave(int graceful);

/** May the connection of this request leave its worker? If so, there is room
 * for it until the request ends. */
int apppool_suspend_reserve(request_rec *r);

/**
 * Suspend it. There is room, and what was sent to the client was flushed.
 * @param s lives as long as the connection
 * @return 1: return SUSPENDED from the handler, and touch neither the request
 *         nor `ctx' any more; 0: a system call failed, and it is logged
 */
int apppool_suspend(apppool_suspended_t *s, request_rec *r);

/** It was not suspended, and has no other way to go on: this worker does what
 * the pump would do, until the connection ends. */
void apppool_suspend_stay(apppool_suspended_t *s, request_rec *r);

#endif
