/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file untrusted_headers.h
 * @brief Headers of a request that its client has no business to send.
 *
 * An app believes some headers, as it stands behind a server that sets them:
 * where it is mounted, and by which address, host and scheme the client has
 * come. So a client must not be able to send them. They are taken away before
 * httpd's own modules add to them; what the administrator sets stays.
 *
 *  - Names with anything but letters, digits and '-'. What makes variables of
 *    headers, as CGI does, takes X_Forwarded_For for X-Forwarded-For.
 *  - What only this httpd can know, such as X-Forwarded-Prefix.
 *    X-Forwarded-For is among that: mod_proxy makes it of the address that
 *    httpd takes for the client's. What mod_remoteip has left of it is what no
 *    trusted proxy has vouched for.
 *  - What a proxy before this httpd may know: X-Forwarded-Proto, Forwarded and
 *    others. It stays if mod_remoteip has taken the client's address from a
 *    header, which it does if it trusts the peer. The PROXY protocol is not
 *    enough: a balancer that speaks it need not look at headers.
 *  - Connection may name no header, so that mod_proxy does not drop ours.
 *
 * Whether a request is the app's is known late, so what was taken can be given
 * back.
 *
 * Lock:  none.
 * Crash: not concerned.
 * Trust: the client's request; httpd has checked its form.
 */
#ifndef MOD_APPPOOL_REQUEST_UNTRUSTED_HEADERS_H
#define MOD_APPPOOL_REQUEST_UNTRUSTED_HEADERS_H

#include <httpd.h>

/** Take them away. r->headers_in has to be the request's own. */
void apppool_untrusted_headers_remove(request_rec *r);

/** Give back what apppool_untrusted_headers_remove() took, unless somebody else has set it since:
 * the request is not the app's. */
void apppool_untrusted_headers_restore(request_rec *r);

#endif
