/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "system/reap.h"

#include <string.h>
#include <sys/wait.h>

#include "base/clock_ms.h"

#define LIMIT 50 /* ms */

int reap_children(reap_one_t *one, void *ctx)
{
    int64_t until = clock_ms() + LIMIT;
    siginfo_t info;
    int n;

    for (n = 0; n < REAP_MAX && clock_ms() <= until; n++) {
        memset(&info, 0, sizeof info);
        if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
            info.si_pid == 0 || one(&info, ctx))
            return 0;
    }
    return 1;
}
