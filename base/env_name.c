/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "base/env_name.h"

#include <string.h>

static int is_letter(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

const char *env_name_refused(const char *name, size_t length)
{
    static const char *const ours[] = {"LISTEN_FDS", "LISTEN_PID",
                                       "LISTEN_FDNAMES", "NOTIFY_SOCKET"};
    static const char own[] = "is set by mod_apppool itself";
    size_t i;

    for (i = 0; i < length; i++)
        if (!is_letter(name[i]) && (i == 0 || name[i] < '0' || name[i] > '9'))
            break;
    if (length == 0 || i < length)
        return "is not a name of letters, digits and underscores";
    for (i = 0; i < sizeof ours / sizeof *ours; i++)
        if (length == strlen(ours[i]) && !memcmp(name, ours[i], length))
            return own;
    return length >= 8 && !memcmp(name, "APPPOOL_", 8) ? own : NULL;
}
