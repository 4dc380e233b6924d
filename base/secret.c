/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "base/secret.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#ifdef APPPOOL_OPENSSL
#include <openssl/evp.h>
#include <openssl/hmac.h>
#endif

#define NAME_MAX_BYTES 255

int secret_is_supported(void)
{
#ifdef APPPOOL_OPENSSL
    return 1;
#else
    return 0;
#endif
}

static int derive(const unsigned char *secret, size_t n, const char *label,
                  const char *name, unsigned char to[STORE_DERIVED])
{
#ifdef APPPOOL_OPENSSL
    unsigned char message[NAME_MAX_BYTES + 16];
    int length;

    if (strlen(name) > NAME_MAX_BYTES) {
        errno = ENAMETOOLONG;
        return -1;
    }
    length = snprintf((char *)message, sizeof message, "%s%s", label, name);
    if (HMAC(EVP_sha256(), secret, (int)n, message, (size_t)length, to, NULL))
        return 0;
    errno = ENOTSUP;
#else
    (void)secret, (void)n, (void)label, (void)name, (void)to;
    errno = ENOTSUP;
#endif
    return -1;
}

int secret_peer(const unsigned char *secret, size_t n,
                unsigned char to[STORE_DERIVED])
{
    return derive(secret, n, "peer", "", to);
}

int secret_password(const unsigned char *secret, size_t n, const char *space,
                    char to[STORE_PASSWORD])
{
    unsigned char derived[STORE_DERIVED];
    int i;

    if (derive(secret, n, "client", space, derived) != 0)
        return -1;
    for (i = 0; i < STORE_DERIVED; i++)
        snprintf(to + 2 * i, 3, "%02x", derived[i]);
    return 0;
}

int secret_is_password(const char password[STORE_PASSWORD], const void *said,
                       size_t n)
{
    const unsigned char *s = said;
    volatile unsigned char differs = n != STORE_PASSWORD - 1;
    size_t i;

    for (i = 0; i < n && i < STORE_PASSWORD - 1; i++)
        differs =
            (unsigned char)(differs | (s[i] ^ (unsigned char)password[i]));
    return !differs;
}
