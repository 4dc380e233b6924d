/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/output/output.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/userdb.h"

#define FLAGS (O_CLOEXEC | O_NOCTTY | O_NONBLOCK)

static int is_plain(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 1;
}

static int open_as_root(const char *path, int flags, mode_t mode)
{
    struct open_how how;
    int fd;

    memset(&how, 0, sizeof how);
    how.flags = (unsigned)flags;
    how.mode = flags & O_CREAT ? mode : 0;
    how.resolve = RESOLVE_NO_SYMLINKS;
    fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
    if (fd < 0 || is_plain(fd))
        return fd;
    close(fd);
    errno = EPERM;
    return -1;
}

static int open_as_user(const char *path, int flags, mode_t mode, uid_t uid,
                        gid_t gid)
{
    int fd, error;

    setfsgid(gid);
    setfsuid(uid);
    fd = open(path, flags, mode);
    error = errno;
    setfsuid(0);
    setfsgid(getegid());
    errno = error;
    return fd;
}

int open_as(const char *path, int flags, mode_t mode, uid_t uid, gid_t gid,
            int *as_root)
{
    int fd = -1;

    flags |= FLAGS;
    if (as_root)
        *as_root = 0;
    if (geteuid() != 0)
        return open(path, flags, mode);
    errno = EACCES;
    if (uid != 0 && uid != USERDB_NOBODY)
        fd = open_as_user(path, flags, mode, uid, gid);
    if (fd >= 0 || (errno != EACCES && errno != EPERM))
        return fd;
    if (as_root)
        *as_root = 1;
    return open_as_root(path, flags, mode);
}
