/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "system/exit_cause.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

const char *exit_cause_text(const siginfo_t *info, char buf[EXIT_CAUSE_MAX])
{
    const char *name;

    if (info->si_pid == 0) {
        snprintf(buf, EXIT_CAUSE_MAX, "exit status not known");
        return buf;
    }
    if (info->si_code == CLD_EXITED) {
        snprintf(buf, EXIT_CAUSE_MAX, "exit code %d", info->si_status);
        return buf;
    }
    name = sigabbrev_np(info->si_status);
    snprintf(buf, EXIT_CAUSE_MAX, "signal %d%s%s%s%s", info->si_status,
             name ? " (SIG" : "", name ? name : "", name ? ")" : "",
             info->si_code == CLD_DUMPED ? ", core dumped" : "");
    return buf;
}
