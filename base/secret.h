/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file secret.h
 * @brief What is derived from the secret of AppStoreKey.
 *
 * All hosts that have the same file derive the same: the key with which stores
 * speak TLS to each other, and the password of each space. A password tells
 * nothing about the secret, nor about another password.
 *
 *     key of the peers       HMAC-SHA256(secret, "peer")
 *     password of a space    HMAC-SHA256(secret, "client" name), lower-case hex
 *
 * Errors: a build without OpenSSL derives nothing: -1 and ENOTSUP.
 */
#ifndef APPPOOL_BASE_SECRET_H
#define APPPOOL_BASE_SECRET_H

#include <stddef.h>

#define STORE_DERIVED  32                      /* bytes */
#define STORE_PASSWORD (2 * STORE_DERIVED + 1) /* NUL included */

/** 1: this build has OpenSSL. */
int secret_is_supported(void);

/** @return 0, or -1: errno */
int secret_peer(const unsigned char *secret, size_t n,
                unsigned char to[STORE_DERIVED]);

/** @param space its name, at most 255 bytes @return 0, or -1: errno */
int secret_password(const unsigned char *secret, size_t n, const char *space,
                    char to[STORE_PASSWORD]);

/** Is `said` (n bytes) this password? The time depends on n alone. */
int secret_is_password(const char password[STORE_PASSWORD], const void *said,
                       size_t n);

#endif
