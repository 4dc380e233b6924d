/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file untrusted_headers.h
 * @brief Headers of a request that its client must not send.
 *
 * An app trusts some headers, because the server in front of it sets them:
 * where the app is mounted, and the address, host and scheme of the client. So
 * a client must not be able to send them. They are removed before httpd's own
 * modules add to them. Headers that the administrator sets stay.
 *
 *  - Names with characters other than letters, digits and '-'. A program that
 *    makes variables of headers, as CGI does, takes X_Forwarded_For for
 *    X-Forwarded-For.
 *  - Headers that only this httpd can know, such as X-Forwarded-Prefix.
 *    X-Forwarded-For is one of them: mod_proxy makes it from the address that
 *    httpd takes for the client's. The part of it that mod_remoteip has left
 *    comes from no trusted proxy.
 *  - Headers that a proxy before this httpd may know: X-Forwarded-Proto,
 *  Forwarded
 *    and others. They stay if mod_remoteip has taken the client's address from
 *    a header, which it does if it trusts the peer. The PROXY protocol is not
 *    enough: a balancer that speaks it does not have to look at headers.
 *  - Connection may name no header, so that mod_proxy does not drop ours.
 *
 * It is known late whether the application serves a request, so the removed
 * headers can be restored.
 *
 * Lock:  none.
 * Crash: not concerned.
 * Trust: the client's request; httpd has checked its form.
 */
#ifndef MOD_APPPOOL_REQUEST_UNTRUSTED_HEADERS_H
#define MOD_APPPOOL_REQUEST_UNTRUSTED_HEADERS_H

#include <httpd.h>

/** Remove them. r->headers_in has to belong only to this request. */
void apppool_untrusted_headers_remove(request_rec *r);

/** The application does not serve this request. Put back the headers that were
 * removed, except those that were set again. */
void apppool_untrusted_headers_restore(request_rec *r);

#endif
