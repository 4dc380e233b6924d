/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/report/reports.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "spawner/process/sock_diag.h"
#include "system/procfs.h"

/* The loop waits for this search, after a start that has failed. Both are read
 * in a few milliseconds. */
#define PROCESSES_MAX   4096
#define DESCRIPTORS_MAX 4096 /* of all processes of the user */
#define TRIES           3    /* a list that changes meanwhile is incomplete */

typedef struct {
    unsigned port;
    uid_t user;
    uint32_t number; /* of the socket; 0: not found */
    int is_own;      /* it is the user's */
    int left;        /* descriptors that may still be read */
} search_t;

static void on_tcp(const sock_diag_port_t *at, uint32_t queued, void *ctx)
{
    search_t *search = ctx;

    (void)queued;
    if (at->port != search->port || search->is_own)
        return;
    search->number = at->number;
    search->is_own = at->uid == search->user;
}

/* Has this process the socket? */
static int has_it(search_t *search, int proc, const char *pid)
{
    char name[288], link[64], wanted[64];
    struct dirent *entry;
    int fd, found = 0;
    ssize_t n;
    DIR *dir;

    snprintf(wanted, sizeof wanted, "socket:[%u]", search->number);
    snprintf(name, sizeof name, "%s/fd", pid);
    fd = openat(proc, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    dir = fd < 0 ? NULL : fdopendir(fd);
    while (dir && !found && search->left-- > 0 &&
           (entry = readdir(dir)) != NULL) {
        n = readlinkat(fd, entry->d_name, link, sizeof link - 1);
        link[n > 0 ? n : 0] = 0;
        found = strcmp(link, wanted) == 0;
    }
    if (dir)
        closedir(dir);
    else if (fd >= 0)
        close(fd);
    return found;
}

/* @return 0: none was found */
static pid_t owner(search_t *search)
{
    DIR *dir = opendir("/proc");
    const struct dirent *entry;
    struct stat st;
    pid_t pid = 0;
    int n = 0;

    while (dir && pid == 0 && n < PROCESSES_MAX &&
           (entry = readdir(dir)) != NULL) {
        if (atoi(entry->d_name) <= 0)
            continue;
        n++;
        if (fstatat(dirfd(dir), entry->d_name, &st, 0) == 0 &&
            st.st_uid == search->user &&
            has_it(search, dirfd(dir), entry->d_name))
            pid = (pid_t)atoi(entry->d_name);
    }
    if (dir)
        closedir(dir);
    return pid;
}

void port_owner_say(unsigned port, uid_t user, char *text, size_t size)
{
    search_t search = {.port = port, .user = user, .left = DESCRIPTORS_MAX};
    int tries = TRIES;
    procfs_t who;
    pid_t pid;

    *text = 0;
    while (sock_diag_tcp(on_tcp, &search) != 0 && search.number == 0 &&
           --tries > 0)
        ;
    if (search.number == 0)
        return;
    pid = search.is_own ? owner(&search) : 0;
    if (pid != 0 && procfs_read(pid, &who) == 0)
        snprintf(text, size, "port %u is used by %s, pid %d", port, who.name,
                 (int)pid);
    else
        snprintf(text, size, "port %u is used by %s process", port,
                 search.is_own ? "the same user's" : "another user's");
}
