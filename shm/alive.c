/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/alive.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The state and field 22 of /proc/PID/stat. The name in field 2 may hold
 * anything, so fields are counted from its last parenthesis. */
static int parse_stat(const char *stat, char *state, uint64_t *start)
{
    const char *at = strrchr(stat, ')');
    int field;

    if (!at || at[1] != ' ')
        return -1;
    at += 2;
    *state = *at;
    for (field = 3; field < 22; field++) {
        at = strchr(at, ' ');
        if (!at)
            return -1;
        at++;
    }
    *start = strtoull(at, NULL, 10);
    return 0;
}

int apl_alive_look(int32_t pid, apl_who_t *who)
{
    char path[32], stat[1024], state;
    ssize_t n;
    int fd;

    if (pid <= 0)
        return -1;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    n = read(fd, stat, sizeof stat - 1);
    close(fd);
    if (n <= 0)
        return -1;
    stat[n] = 0;
    memset(who, 0, sizeof *who);
    who->pid = pid;
    if (parse_stat(stat, &state, &who->start) != 0)
        return -1;
    return state == 'Z' || state == 'X' ? -1 : 0;
}

int apl_alive(const apl_who_t *who)
{
    apl_who_t now;

    return apl_alive_look(who->pid, &now) == 0 && now.start == who->start;
}
