/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/lock/wake.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void apl_wake_sleep(uint32_t *bell, uint32_t seen, int64_t us)
{
    struct timespec limit = {us / 1000000, us % 1000000 * 1000};

    if (us > 0)
        syscall(SYS_futex, bell, FUTEX_WAIT, seen, &limit, NULL, 0);
}

void apl_wake_up(uint32_t *bell)
{
    syscall(SYS_futex, bell, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void apl_wake_ring(int bell)
{
    const uint64_t one = 1;

    /* An eventfd that is full has been rung for. */
    if (bell >= 0 && write(bell, &one, sizeof one) < 0)
        return;
}
