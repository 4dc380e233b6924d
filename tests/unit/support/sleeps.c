/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "tests/unit/support/sleeps.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/syscall.h>

#include "shm/lock/lock_token.h"
#include "shm/lock/wake.h"

static __thread const apl_session_t *watched;
static __thread int64_t missed;

void sleeps_on(const apl_session_t *session)
{
    watched = session;
    missed = 0;
}

int64_t sleeps_missed(void)
{
    return missed;
}

int sleeps_lost(int64_t from, int64_t woken_at)
{
    /* The slice may well be over before a wake-up that is done later. */
    return from != 0 && woken_at < from + APL_WAKE_SLICE;
}

typedef long syscall_t(long number, ...);

long syscall(long number, ...)
{
    static syscall_t *real;
    int64_t begin = apl_now();
    long a[6] = {0}, rv;
    va_list args;
    int i;

    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "syscall");
    va_start(args, number);
    for (i = 0;
         i < (number == SYS_futex                                        ? 6
              : number == SYS_pidfd_send_signal || number == SYS_openat2 ? 4
                                                                         : 3);
         i++)
        a[i] = va_arg(args, long);
    va_end(args);
    rv = real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    if (number == SYS_futex && a[1] == FUTEX_WAIT && watched &&
        (uint32_t *)a[0] == &watched->wake_word && rv < 0 &&
        errno == ETIMEDOUT &&
        __atomic_load_n(&watched->state, __ATOMIC_ACQUIRE) !=
            APL_SESSION_WAITING)
        missed = begin;
    return rv;
}
