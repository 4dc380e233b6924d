/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/*
 * Opening AppLog. It may stand in a directory of the app's user, where he can
 * put links to files that only root may write. So it is opened with his
 * rights first, and with root's only along a path without symbolic links, to
 * a file that has one name.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "spawner/output.h"

#define FLAGS                                                                  \
    (O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY |       \
     O_NONBLOCK)

static int is_plain(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 1;
}

static int open_as_root(const char *path)
{
    struct open_how how;
    int fd;

    memset(&how, 0, sizeof how);
    how.flags = FLAGS;
    how.mode = 0640;
    how.resolve = RESOLVE_NO_SYMLINKS;
    fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
    if (fd < 0 || is_plain(fd))
        return fd;
    close(fd);
    errno = EPERM;
    return -1;
}

int output_open(const char *path, unsigned uid, unsigned gid)
{
    mode_t mask = umask(027);
    int fd = -1, kept = EACCES;

    if (geteuid() != 0)
        fd = open(path, FLAGS, 0640);
    else {
        if (uid != 0 && uid != (unsigned)-1) {
            setfsgid(gid);
            setfsuid(uid);
            fd = open(path, FLAGS, 0640);
            kept = errno;
            setfsuid(0);
            setfsgid(getegid());
        }
        if (fd < 0 && (kept == EACCES || kept == EPERM))
            fd = open_as_root(path);
        else if (fd < 0)
            errno = kept;
    }
    kept = errno;
    umask(mask);
    errno = kept;
    return fd;
}
