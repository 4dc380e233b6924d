/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file status_token.h
 * @brief What a button of the status page must send: a proof that we sent its
 *        page to the same user a short time ago.
 *
 * Another site can make a browser send any form here, with the operator's
 * login. But that site can neither read the page nor guess a token. A token is
 * the time and a MAC of time and user. httpd's parent makes the key of the MAC
 * with each configuration. Nothing is stored, and all children of httpd know
 * the key.
 *
 * Trust: a token may contain any bytes. It is compared in constant time.
 */
#ifndef MOD_APPPOOL_STATUS_STATUS_TOKEN_H
#define MOD_APPPOOL_STATUS_STATUS_TOKEN_H

#include <httpd.h>

/** Make the key. Call it in the parent, before children are forked. */
void apppool_status_token_begin(void);

/** A token for this request's user. */
const char *apppool_status_token(request_rec *r);

/** Is it a token of this user, and not too old? A token is valid for at least
 * 15 and less than 20 minutes. */
int apppool_status_token_ok(request_rec *r, const char *token);

#endif
