/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "base/url_path.h"

#include <string.h>

#define PLAIN                                                                  \
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"           \
    "-._~!$&'()*+,;=:@/"

void url_path_encode(const char *path, const char *keep, char *url)
{
    static const char digits[] = "0123456789ABCDEF";
    unsigned char c;

    while ((c = (unsigned char)*path++) != 0)
        if (strchr(PLAIN, c) || strchr(keep, c))
            *url++ = (char)c;
        else {
            *url++ = '%';
            *url++ = digits[c >> 4];
            *url++ = digits[c & 15];
        }
    *url = 0;
}
