/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "base/userdb.h"

#include <errno.h>
#include <stdlib.h>

int userdb_number(const char *name, uint32_t *number)
{
    char *end;
    unsigned long n;

    if (name[0] != '#' || name[1] < '0' || name[1] > '9')
        return 0;
    n = strtoul(name + 1, &end, 10);
    if (*end || n >= UINT32_MAX)
        return 0;
    *number = (uint32_t)n;
    return 1;
}

/* getpwnam(3) lists these for "not found". */
int userdb_missing(int error)
{
    return error == 0 || error == ENOENT || error == ESRCH || error == EBADF ||
           error == EPERM;
}
