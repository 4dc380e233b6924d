/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/lock/wake.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void apl_wake_sleep(uint32_t *word, uint32_t seen, int64_t us)
{
    struct timespec limit = {us / 1000000, us % 1000000 * 1000};

    if (us > 0)
        syscall(SYS_futex, word, FUTEX_WAIT, seen, &limit, NULL, 0);
}

void apl_wake_up(uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void apl_wake_ring(int doorbell)
{
    const uint64_t one = 1;

    /* If the eventfd is full, the doorbell has been rung already. */
    if (doorbell >= 0 && write(doorbell, &one, sizeof one) < 0)
        return;
}
