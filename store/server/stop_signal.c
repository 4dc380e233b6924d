/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/server/stop_signal.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "spawner/shared/clock_ms.h"
#include "spawner/shared/heartbeat.h"

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
