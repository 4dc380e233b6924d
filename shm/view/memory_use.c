/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/view/view.h"

#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

#include "shm/lock/alive.h"

static int by_pid(const void *a, const void *b)
{
    const apl_memory_use_t *one = a, *other = b;

    return (one->identity.pid > other->identity.pid) -
           (one->identity.pid < other->identity.pid);
}

static const apl_memory_use_t *find(const apl_memory_use_t *of, uint32_t n,
                                    int32_t pid)
{
    apl_memory_use_t key = {{pid, 0, 0}, 0};

    return n > 0 ? bsearch(&key, of, n, sizeof *of, by_pid) : NULL;
}

/* @return 1: the process exists, and may have started others */
static int look_at(apl_memory_use_t *leader)
{
    apl_stat_t is;

    leader->bytes = -1;
    if (apl_alive_stat(leader->identity.pid, &is) != 0 ||
        is.identity.start != leader->identity.start)
        return 0;
    leader->bytes = is.resident;
    return 1;
}

static void add_member(apl_memory_use_t *of, uint32_t n, int32_t pid)
{
    const apl_memory_use_t *leader;
    apl_stat_t is;

    if (apl_alive_stat(pid, &is) != 0 || is.session == pid)
        return;
    leader = find(of, n, is.session);
    if (leader && leader->bytes >= 0 &&
        is.identity.start >= leader->identity.start)
        of[leader - of].bytes += is.resident;
}

void apl_memory_use_measure(apl_memory_use_t *of, uint32_t n)
{
    const struct dirent *entry;
    uint32_t i;
    int any = 0;
    DIR *dir;

    if (n > 0)
        qsort(of, n, sizeof *of, by_pid);
    for (i = 0; i < n; i++)
        any |= look_at(&of[i]);
    dir = any ? opendir("/proc") : NULL;
    if (!dir)
        return;
    while ((entry = readdir(dir)) != NULL)
        add_member(of, n, atoi(entry->d_name));
    closedir(dir);
}

int64_t apl_memory_use_of(const apl_memory_use_t *of, uint32_t n, int32_t pid)
{
    const apl_memory_use_t *found = pid > 0 ? find(of, n, pid) : NULL;

    return found ? found->bytes : -1;
}
