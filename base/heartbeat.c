/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "base/heartbeat.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock_ms.h"

#define PAUSE 900 /* ms: less than from one check to the next */

static int file = -1;
static int64_t next;

/* The old file stays until the new one exists. */
static int make(int dirfd, const char *name)
{
    char new[64];
    int fd;

    snprintf(new, sizeof new, "%s.new", name);
    unlinkat(dirfd, new, 0);
    fd = openat(dirfd, new,
                O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0 || renameat(dirfd, new, dirfd, name) == 0)
        return fd;
    close(fd);
    unlinkat(dirfd, new, 0);
    return -1;
}

void heartbeat_begin(int dirfd, const char *name)
{
    file = make(dirfd, name);
    if (file < 0)
        file = openat(dirfd, name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
    if (file < 0)
        unlinkat(dirfd, name, 0); /* no program touches that file any more */
    else
        futimens(file, NULL);
    next = clock_ms() + PAUSE;
}

void heartbeat_forget(void)
{
    if (file >= 0)
        close(file);
    file = -1;
}

void heartbeat(void)
{
    int64_t now = clock_ms();

    if (file < 0 || now < next)
        return;
    next = now + PAUSE;
    futimens(file, NULL);
}

int heartbeat_check(heartbeat_t *p, int dirfd, const char *name)
{
    struct stat st;

    if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        memset(&st, 0, sizeof st);
    p->silent = st.st_ino == p->inode && st.st_mtim.tv_sec == p->s &&
                        st.st_mtim.tv_nsec == p->ns
                    ? p->silent + 1
                    : 0;
    p->inode = st.st_ino;
    p->s = st.st_mtim.tv_sec;
    p->ns = st.st_mtim.tv_nsec;
    return p->silent;
}
