/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/remove.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define DEPTH 16

static void remove_at(int at, const char *name, int depth)
{
    struct dirent *entry;
    DIR *dir;
    int fd;

    if (unlinkat(at, name, 0) == 0 || (errno != EISDIR && errno != EPERM))
        return;
    fd = openat(at, name,
                O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (!dir) {
        if (fd >= 0)
            close(fd);
        return;
    }
    while (depth < DEPTH && (entry = readdir(dir)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            remove_at(dirfd(dir), entry->d_name, depth + 1);
    closedir(dir);
    unlinkat(at, name, AT_REMOVEDIR);
}

void remove_tree(int dirfd, const char *name)
{
    remove_at(dirfd, name, 0);
}
