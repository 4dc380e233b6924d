/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "system/open_beneath.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

int open_beneath(int dirfd, const char *name, int flags)
{
    const struct open_how how = {
        .flags = (unsigned)(flags | O_NOFOLLOW | O_CLOEXEC),
        .resolve = RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH};

    return (int)syscall(SYS_openat2, dirfd, name, &how, sizeof how);
}
