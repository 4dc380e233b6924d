/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file untrusted_headers.h
 * @brief Headers of a request that its client must not send.
 *
 * An app trusts some headers, because the server in front of it sets them:
 * where the app is mounted, and the address, host and scheme of the client. So
 * a client must not be able to send them. These are removed:
 *
 *  - Names with characters other than letters, digits and '-'. A program that
 *    makes variables of headers, as CGI does, takes X_Forwarded_For for
 *    X-Forwarded-For.
 *  - Headers that only this httpd can know, such as X-Forwarded-Prefix.
 *    X-Forwarded-For is one of them: mod_proxy makes it from the address that
 *    httpd takes for the client's. The part of it that mod_remoteip has left
 *    comes from no trusted proxy.
 *  - Proxy, which such a program takes for the address of a proxy.
 *  - Headers that a proxy before this httpd may know: X-Forwarded-Proto,
 *    Forwarded and others. They stay if mod_remoteip has taken the client's
 *    address from a header, which it does if it trusts the peer. The PROXY
 *    protocol is not enough: a balancer that speaks it does not have to look at
 *    headers.
 *  - Connection may name no header, so that mod_proxy does not drop ours.
 *
 * A header that RequestHeader or another module has set stays, even if the
 * client has sent the same name and value. So a header is the client's if its
 * value is the string that httpd stored when it read the request: the same
 * address, not the same text. httpd and its modules share these strings when
 * they copy a table of headers, and store a new one when they set a header. The
 * strings are noted when the request was read, before any section of the
 * configuration is known.
 *
 * Trust: the client's request; httpd has checked its form. RequestHeader with
 *        `early' is done before the strings are noted, so its headers count as
 *        the client's.
 */
#ifndef MOD_APPPOOL_REQUEST_UNTRUSTED_HEADERS_H
#define MOD_APPPOOL_REQUEST_UNTRUSTED_HEADERS_H

#include <httpd.h>

/** Before the hooks are run: get a place for the notes. */
void apppool_untrusted_headers_register(void);

/** A hook of httpd: note which headers come from the client. Does nothing for a
 * server without an AppRoot. */
int apppool_untrusted_headers_note(request_rec *r);

/** The application serves this request: remove those of the client that are
 * there, and CGI's variables of them. It may be called again. Memory and time
 * are in proportion to the headers. */
void apppool_untrusted_headers_remove(request_rec *r);

/** Remove headers of the client only, before RequestHeader is done for the
 * place of this request. After an internal redirect, and in a subrequest,
 * RequestHeader of another place may have appended to what the client has sent.
 * Such a header is removed as a whole. */
void apppool_untrusted_headers_remove_early(request_rec *r);

/** The application does not serve this request. Put back the headers that were
 * removed, except those that were set again. */
void apppool_untrusted_headers_restore(request_rec *r);

#endif
