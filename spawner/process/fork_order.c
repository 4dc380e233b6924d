/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/process/fork_order.h"

#include <stdio.h>
#include <string.h>

size_t fork_order_write(const char *const *variables, char text[FORK_ORDER_MAX])
{
    size_t used = 0;

    for (; *variables; variables++) {
        size_t n = strlen(*variables);

        if (n + 1 > FORK_ORDER_MAX - used)
            return 0;
        memcpy(text + used, *variables, n + 1);
        used += n + 1;
    }
    return used > 0 ? used - 1 : 0; /* no NUL behind the last one */
}

pid_t fork_order_hello(const char *bytes, size_t n)
{
    int64_t pid = 0;
    size_t i;

    if (n < 2 || n > 11 || bytes[n - 1] != '\n' || bytes[0] == '0')
        return 0;
    for (i = 0; i < n - 1; i++) {
        if (bytes[i] < '0' || bytes[i] > '9')
            return 0;
        pid = 10 * pid + (bytes[i] - '0');
    }
    return pid <= INT32_MAX ? (pid_t)pid : 0;
}

const char *fork_order_wrong(const fork_facts_t *facts,
                             const fork_expected_t *expected)
{
    int i;

    if (facts->parent != expected->spawner)
        return "is not a child of the spawner";
    if (facts->session != facts->pid)
        return "does not lead a session";
    for (i = 0; i < 4; i++)
        if (facts->uids[i] != expected->uid)
            return "runs as another user";
    if (facts->start < expected->ordered)
        return "is older than the order";
    if (facts->recorded)
        return "is known already";
    return facts->in_cgroup ? NULL : "is not in the cgroup of the template";
}

int fork_order_uids(const char *status, uint32_t uids[4])
{
    const char *line = strstr(status, "\nUid:");

    return line && sscanf(line, "\nUid: %u %u %u %u", &uids[0], &uids[1],
                          &uids[2], &uids[3]) == 4
               ? 0
               : -1;
}
