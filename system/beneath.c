/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "system/beneath.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/heartbeat.h"

#define DEPTH 16

int beneath_open(int dirfd, const char *name, int flags)
{
    const struct open_how how = {
        .flags = (unsigned)(flags | O_NOFOLLOW | O_CLOEXEC),
        .resolve = RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH};

    return (int)syscall(SYS_openat2, dirfd, name, &how, sizeof how);
}

/* State of one removal. */
typedef struct {
    int top;         /* descriptor of the directory that is removed */
    uint64_t names;  /* names that lift() has tried */
    uint64_t lifted; /* how many directories were moved up */
} tree_t;

/* @return 0: it is a directory that is not empty. A cgroup fails with EBUSY; so
 * does a mount, which is not entered. */
static int is_done(int at, const char *name)
{
    if (unlinkat(at, name, 0) == 0 || (errno != EISDIR && errno != EPERM))
        return 1;
    return unlinkat(at, name, AT_REMOVEDIR) == 0 ||
           (errno != ENOTEMPTY && errno != EBUSY);
}

/* A directory that is too deep is moved up to the top, for another round. */
static void lift(tree_t *t, int at, const char *name)
{
    char to[32];
    int rv;

    do {
        snprintf(to, sizeof to, ".lifted-%" PRIu64, t->names++);
        rv = renameat(at, name, t->top, to);
    } while (rv != 0 &&
             (errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR));
    t->lifted += rv == 0;
}

static void empty(tree_t *t, int fd, int depth)
{
    DIR *dir = fdopendir(fd);
    const struct dirent *entry;
    int below;

    if (!dir)
        close(fd);
    while (dir && (entry = readdir(dir)) != NULL) {
        const char *name = entry->d_name;

        heartbeat();
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
            is_done(fd, name))
            continue;
        if (depth == DEPTH) {
            lift(t, fd, name);
            continue;
        }
        below = beneath_open(fd, name, O_RDONLY | O_DIRECTORY);
        if (below >= 0)
            empty(t, below, depth + 1);
        unlinkat(fd, name, AT_REMOVEDIR);
    }
    if (dir)
        closedir(dir);
}

void beneath_remove(int dirfd, const char *name)
{
    tree_t t = {-1, 0, 0};
    uint64_t before;
    int fd;

    if (is_done(dirfd, name))
        return;
    t.top = beneath_open(dirfd, name, O_RDONLY | O_DIRECTORY);
    if (t.top < 0)
        return;
    do {
        before = t.lifted;
        fd = beneath_open(t.top, ".", O_RDONLY | O_DIRECTORY);
        if (fd >= 0)
            empty(&t, fd, 1);
    } while (t.lifted != before);
    close(t.top);
    unlinkat(dirfd, name, AT_REMOVEDIR);
}
