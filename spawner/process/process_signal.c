/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/process/process_signal.h"

#include <signal.h>

#include "system/cgroup.h"
#include "base/pidfd.h"
#include "spawner/process/mark_scan.h"
#include "spawner/process/sid_scan.h"

void process_signal(spawner_t *s, process_t *p, int sign)
{
    /* Processes that it has started cannot leave its cgroup. */
    int is_killed = sign == SIGKILL && cgroup_kill(p->is.id) == 0;
    int populated;

    if (is_killed && p->gone)
        p->session.sent_kill = 1;
    if (p->is.pid <= 1)
        return;
    if (!p->gone && p->child) {
        /* It is not reaped yet, so its pid is not used again, even if it is
         * dead. */
        if (kill(-p->is.pid, sign) != 0)
            kill(p->is.pid, sign); /* it has not called setsid() yet */
        if (sign != SIGKILL)
            return;
    }
    else if (!p->gone)
        pidfd_send_signal(p->pidfd.fd, sign, NULL, 0);
    populated = cgroup_populated(p->is.id);
    if (is_killed || (p->gone && populated == 0))
        return;
    sid_scan_ask(s, p, sign);
    if (populated < 0 && (sign == SIGKILL || p->gone))
        mark_scan_ask(s, p, sign);
}

int process_signal_remains(spawner_t *s, process_t *p)
{
    int populated = cgroup_populated(p->is.id);

    if (populated >= 0) {
        p->session.survived = p->session.sent_kill && populated;
        return populated;
    }
    if (p->is.pid <= 1)
        return 0;
    if (p->session.found != 0)
        sid_scan_ask(s, p, 0);
    if (p->marks.found != 0)
        mark_scan_ask(s, p, 0);
    if (p->session.found > 0 || p->marks.found > 0)
        return 1;
    return p->session.found < 0 || p->marks.found < 0 ? -1 : 0;
}

void process_signal_forget_remains(process_t *p)
{
    p->session.found = p->marks.found = -1;
    p->session.scanned = p->marks.scanned = 0;
}
