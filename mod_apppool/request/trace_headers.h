/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file trace_headers.h
 * @brief What an app's monitoring wants to know of a request: since when it
 *        waits, and which trace it belongs to.
 *
 *     X-Request-Start: t=1763800000.123456
 *
 * is when the request began to wait for a process, in seconds with
 * microseconds; a body has been read by then. Agents that read nginx's
 * seconds, and those that read 16 digits of microseconds, agree about it.
 *
 *     traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01
 *
 * is W3C's Trace Context. One that is valid is passed on, and if there is none
 * one is made (AppTraceparent). Its last field says that the trace is recorded:
 * by default, tracers drop the traces of which it says that they are not.
 *
 * Lock:  none.
 * Crash: not concerned.
 * Trust: a client may put its requests into any trace, and have them recorded.
 */
#ifndef MOD_APPPOOL_REQUEST_TRACE_HEADERS_H
#define MOD_APPPOOL_REQUEST_TRACE_HEADERS_H

#include <httpd.h>

/** The request belongs to a trace. Before its body is read, so that it keeps
 * the header, for the access log. */
void apppool_trace_headers_parent(request_rec *r);

/** The request begins to wait, unless a trusted proxy (untrusted_headers.h) or the
 * configuration has said when it did. */
void apppool_trace_headers_start(request_rec *r);

#endif
