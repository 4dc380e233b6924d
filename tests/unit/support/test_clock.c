/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "tests/unit/support/test_clock.h"

#include <time.h>

#define NS 1000000000

static struct timespec standing[2];  /* the coarse clocks */
static int64_t slowed_at, slowed_to; /* ns, of the host and of the test */
static int slower = 1;
static int64_t later; /* ns; atomic */

int __real_clock_gettime(clockid_t id, struct timespec *to);
int __wrap_clock_gettime(clockid_t id, struct timespec *to);

static int64_t host_now(void)
{
    struct timespec t;

    __real_clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * NS + t.tv_nsec;
}

static int64_t test_now(void)
{
    return slowed_to + (host_now() - slowed_at) / slower +
           __atomic_load_n(&later, __ATOMIC_ACQUIRE);
}

static __attribute__((constructor)) void begin(void)
{
    __real_clock_gettime(CLOCK_REALTIME_COARSE, &standing[0]);
    __real_clock_gettime(CLOCK_MONOTONIC_COARSE, &standing[1]);
    slowed_at = slowed_to = host_now();
}

void test_clock_slow(int seconds)
{
    slowed_to = test_now();
    slowed_at = host_now();
    later = 0;
    slower = seconds;
}

void test_clock_later(int64_t ms)
{
    __atomic_add_fetch(&later, ms * 1000000, __ATOMIC_RELEASE);
}

void test_clock_stand(int64_t host, int64_t monotonic)
{
    const int64_t ms[] = {host, monotonic};

    for (unsigned i = 0; i < 2; i++)
        standing[i] = (struct timespec){ms[i] / 1000, ms[i] % 1000 * 1000000};
}

int __wrap_clock_gettime(clockid_t id, struct timespec *to)
{
    int64_t now;

    if (id == CLOCK_REALTIME_COARSE || id == CLOCK_MONOTONIC_COARSE) {
        *to = standing[id == CLOCK_MONOTONIC_COARSE];
        return 0;
    }
    if (id != CLOCK_MONOTONIC)
        return __real_clock_gettime(id, to);
    now = test_now();
    to->tv_sec = (time_t)(now / NS);
    to->tv_nsec = (long)(now % NS);
    return 0;
}
