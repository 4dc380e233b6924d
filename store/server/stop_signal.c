/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/server/stop_signal.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock_ms.h"
#include "base/contract.h"
#include "base/heartbeat.h"
#include "store/note.h"

/* ms: httpd is gone. The watchdog acts first, or else the spawner: the apps may
 * use the store until they end. */
#define LIFE_LIMIT ((CONTRACT_ORPHANS + 30) * 1000)

static int signals = -1;
static int64_t at;

void store_stop_signal_begin(int fd)
{
    signals = fd;
    at = 0;
    store_stop_signal_at();
}

int64_t store_stop_signal_at(void)
{
    struct signalfd_siginfo got;

    while (read(signals, &got, sizeof got) == sizeof got)
        if (got.ssi_signo == SIGTERM && at == 0)
            at = clock_ms();
    return at;
}

int store_stop_signal_came(void)
{
    return store_stop_signal_at() != 0;
}

void store_stop_signal_progress(void)
{
    heartbeat();
    store_stop_signal_at();
}

int store_stop_signal_is_orphan(int64_t now)
{
    static int64_t until;
    struct pollfd fds[2] = {{CONTRACT_PARENT_FD, POLLIN, 0},
                            {CONTRACT_LIFE_FD, 0, 0}};

    poll(fds, 2, 0);
    if (!fds[0].revents || !fds[1].revents) {
        until = 0;
        return 0;
    }
    if (until == 0)
        until = now + LIFE_LIMIT;
    if (now < until)
        return 0;
    store_note(STORE_NOTICE, "httpd is gone, so the store stops");
    return 1;
}
