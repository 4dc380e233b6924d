/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "system/clear_runtime_dir.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/contract.h"
#include "system/beneath.h"

static int holds_our_lock(int dirfd)
{
    struct stat ours, there;

    return fstat(CONTRACT_LOCK_FD, &ours) == 0 &&
           fstatat(dirfd, CONTRACT_LOCK, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
           ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
}

/* Does another instance or the administrator have a file there? */
static int is_in_use(int dirfd)
{
    int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *entry;
    int found = 0;

    if (!dir)
        return 1;
    while (!found && (entry = readdir(dir)) != NULL)
        found = strcmp(entry->d_name, ".") != 0 &&
                strcmp(entry->d_name, "..") != 0 &&
                strcmp(entry->d_name, CONTRACT_LOCK) != 0 &&
                strcmp(entry->d_name, CONTRACT_CURRENT) != 0;
    closedir(dir);
    return found;
}

static void clear_base(int dirfd, const char *base)
{
    const char *name = strrchr(base, '/') + 1;

    /* Each instance checks after it has removed its own files. So the last one
     * finds the directory empty. */
    if (!holds_our_lock(dirfd) || is_in_use(dirfd))
        return;
    unlinkat(dirfd, CONTRACT_CURRENT, 0);
    unlinkat(dirfd, CONTRACT_LOCK, 0);
    if (strncmp(name, CONTRACT_PREFIX, sizeof CONTRACT_PREFIX - 1) == 0)
        rmdir(base);
}

void clear_runtime_dir(int dirfd, const char *runtime, int all)
{
    static const char *const names[] = {
        CONTRACT_SOCKETS, CONTRACT_OUTPUT, CONTRACT_NOTIFY, CONTRACT_FAILURES,
        CONTRACT_CONTROL, CONTRACT_USERS, CONTRACT_REGISTRY, CONTRACT_SPAWNER,
        CONTRACT_SPAWNER_STDERR, CONTRACT_WATCHDOG_STDERR, CONTRACT_ERRORLOG,
        CONTRACT_ERRORFORMAT, CONTRACT_SPAWNER ".new", CONTRACT_INSTANCE ".new",
        CONTRACT_REGISTRY ".new", CONTRACT_SPAWNER_HEARTBEAT ".new",
        CONTRACT_SPAWNER_HEARTBEAT, CONTRACT_WATCHDOG_HEARTBEAT ".new",
        CONTRACT_STORES, CONTRACT_STORE, CONTRACT_STORE_SAVE,
        CONTRACT_STORE_SAVE_TIME, CONTRACT_STORE_STDERR,
        CONTRACT_STORE_HEARTBEAT, CONTRACT_STORE_HEARTBEAT ".new",
        /* This comes late, because trees that apps have left may take long.
         * Meanwhile httpd checks the watchdog's heartbeat. While the file of
         * the instance is there, the next start continues with what is left. */
        CONTRACT_OWN, CONTRACT_INSTANCE, CONTRACT_WATCHDOG_HEARTBEAT};
    char base[PATH_MAX];
    size_t i;
    int above;

    for (i = 0; i < sizeof names / sizeof *names; i++)
        beneath_remove(dirfd, names[i]);
    if (!all)
        return;
    unlinkat(dirfd, CONTRACT_TABLE, 0);
    unlinkat(dirfd, CONTRACT_TABLE ".new", 0);
    clear_base(dirfd, runtime);
    above = openat(dirfd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (above >= 0 && holds_our_lock(above)) {
        snprintf(base, sizeof base, "%s", runtime);
        unlinkat(above, strrchr(base, '/') + 1, AT_REMOVEDIR);
        *strrchr(base, '/') = 0;
        clear_base(above, base);
    }
    if (above >= 0)
        close(above);
}
