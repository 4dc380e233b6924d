/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/slots/numbers.h"

#include <stdio.h>
#include <string.h>

#include "shm/format/timing.h"

#define MINUTE     INT64_C(60000000) /* us */
#define REASON_MAX (sizeof((apl_death_t *)0)->reason - 1)

const int64_t apl_window_lengths[APL_WINDOWS] = {MINUTE, 5 * MINUTE,
                                                 60 * MINUTE};

/* ---- counting ---- */

static void add(uint64_t *to, uint64_t n)
{
    __atomic_fetch_add(to, n, __ATOMIC_RELAXED);
}

/* Stores that nearly always find what they would store: others keep the line
 * then. */
static void set(uint32_t *to, uint32_t value)
{
    if (__atomic_load_n(to, __ATOMIC_RELAXED) != value)
        __atomic_store_n(to, value, __ATOMIC_RELAXED);
}

static void begin(apl_numbers_t *n, int64_t now)
{
    int64_t never = 0;

    if (__atomic_load_n(&n->began, __ATOMIC_RELAXED) == 0)
        __atomic_compare_exchange_n(&n->began, &never, now, 0, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED);
}

apl_numbers_t *apl_numbers_use(apl_pool_t *pool, apl_group_t *group,
                               int64_t now)
{
    apl_numbers_t *n = &pool->numbers[APL_GROUP_INDEX(pool, group)];

    set(&n->generation, __atomic_load_n(&group->generation, __ATOMIC_RELAXED));
    begin(n, now);
    set(&group->counted, 1);
    return n;
}

void apl_numbers_count(apl_pool_t *pool, apl_group_t *group,
                       const apl_response_t *response, int64_t now)
{
    apl_numbers_t *n = apl_numbers_use(pool, group, now);
    uint32_t class = response->status / 100 - 1;

    add(&n->responses[class < APL_CLASSES ? class : APL_CLASSES - 1], 1);
    APL_CRASH_POINT("numbers_responses");
    add(&n->bytes, response->bytes);
    if (response->fault - 1 < APL_FAULTS - 1)
        add(&n->faults[response->fault - 1], 1);
    if (response->took >= 0)
        __atomic_fetch_add(&n->times[apl_timing_class(response->took)], 1,
                           __ATOMIC_RELAXED);
    APL_CRASH_POINT("numbers_counted");
}

/* @return the one with this reason; or one that is free, or the oldest one */
static apl_death_t *death_of(apl_numbers_t *n, const char *reason)
{
    apl_death_t *one, *oldest = n->deaths;

    for (one = n->deaths; one < n->deaths + APL_DEATHS; one++) {
        if (one->last != 0 && strncmp(one->reason, reason, REASON_MAX) == 0)
            return one;
        if (one->last < oldest->last)
            oldest = one;
    }
    oldest->count = 0;
    return oldest;
}

void apl_numbers_note_death(apl_lock_token_t *token, apl_group_t *group,
                            const char *reason)
{
    apl_death_t *death =
        death_of(apl_numbers_use(token->pool, group, token->now), reason);

    snprintf(death->reason, sizeof death->reason, "%s", reason);
    death->count++;
    APL_CRASH_POINT("death_counted");
    death->last = token->now;
}

APL_UNLOCKED const apl_numbers_t *apl_numbers_of(const apl_pool_t *pool,
                                                 const apl_group_t *group)
{
    const apl_numbers_t *n = &pool->numbers[APL_GROUP_INDEX(pool, group)];

    return group->counted == 1 && n->generation == group->generation ? n : NULL;
}

/* Pages that were never used stay so: a slot that is taken for the first time
 * has zeros. */
void apl_numbers_forget(apl_lock_token_t *token, apl_group_t *group)
{
    apl_pool_t *pool = token->pool;

    group->counted = 0;
    if (group->generation > 1)
        memset(&pool->numbers[APL_GROUP_INDEX(pool, group)], 0,
               sizeof *pool->numbers);
}

/* ---- reading ---- */

static void read_now(const apl_numbers_t *n, apl_moment_t *is, int64_t now)
{
    int i;

    is->time = now;
    for (i = 0; i < APL_CLASSES; i++)
        is->responses[i] =
            (uint32_t)__atomic_load_n(&n->responses[i], __ATOMIC_RELAXED);
    for (i = 0; i < APL_TIMES; i++)
        is->times[i] = __atomic_load_n(&n->times[i], __ATOMIC_RELAXED);
}

/* ---- dated records ---- */

void apl_numbers_write(void *to, const void *is, size_t size)
{
    int64_t time = *(const int64_t *)is;

    __atomic_store_n((int64_t *)to, 0, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    APL_CRASH_POINT("record_undated");
    memcpy((char *)to + sizeof time, (const char *)is + sizeof time,
           size - sizeof time);
    APL_CRASH_POINT("record_written");
    __atomic_store_n((int64_t *)to, time, __ATOMIC_RELEASE);
}

APL_UNLOCKED int64_t apl_numbers_read(void *to, const void *from, size_t size)
{
    int64_t time = __atomic_load_n((const int64_t *)from, __ATOMIC_ACQUIRE);

    apl_copy(to, from, size);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    *(int64_t *)to = time;
    return __atomic_load_n((const int64_t *)from, __ATOMIC_RELAXED) == time
               ? time
               : 0;
}

/* ---- moments ---- */

/* Steps between two moments of each window: a third of it. */
static const uint64_t every[APL_WINDOWS] = {1, 5, 60};

/* The number of a time, where each number lasts for so many steps. */
static uint64_t number_of(int64_t time, uint64_t steps)
{
    return (uint64_t)time / (steps * APL_STEP_PERIOD);
}

void apl_numbers_keep(apl_numbers_t *numbers, int64_t now)
{
    int64_t last = numbers->sampled;
    apl_moment_t is;
    int i;

    memset(&is, 0, sizeof is);
    read_now(numbers, &is, now);
    for (i = 0; i < APL_WINDOWS; i++) {
        uint64_t number = number_of(now, every[i]);

        if (number != number_of(last, every[i]))
            apl_numbers_write(&numbers->moments[i][number % APL_MOMENTS], &is,
                              sizeof is);
    }
    numbers->sampled = now;
}

/* Is a moment of that age better than the best so far? The youngest one that is
 * old enough is best, else the oldest one. @param best -1: there is none yet */
static int is_better(int64_t age, int64_t best, int64_t enough)
{
    if (age < 0)
        return 0;
    return best >= enough ? age >= enough && age < best : age > best;
}

/* The moment that a window begins with. An application that is younger than the
 * window begins with its first count. Before that, all counters were 0. So it
 * does if no moment can be read. */
static void find_begin(const apl_numbers_t *n, int window, int64_t enough,
                       int64_t now, apl_moment_t *best)
{
    int64_t age = -1;
    apl_moment_t one;
    int i;

    memset(best, 0, sizeof *best);
    best->time = __atomic_load_n(&n->began, __ATOMIC_RELAXED);
    if (apl_since(now, best->time) < enough)
        return;
    for (i = 0; i < APL_MOMENTS; i++)
        if (apl_numbers_read(&one, &n->moments[window][i], sizeof one) != 0 &&
            is_better(apl_since(now, one.time), age, enough)) {
            *best = one;
            age = apl_since(now, one.time);
        }
}

/* What was counted between this moment and now. */
static void subtract(const apl_numbers_t *n, const apl_moment_t *begin,
                     int64_t now, apl_window_t *is)
{
    apl_moment_t end;
    int i;

    read_now(n, &end, now);
    is->span = apl_since(now, begin->time);
    for (i = 0; i < APL_CLASSES; i++)
        is->responses[i] = end.responses[i] - begin->responses[i];
    for (i = 0; i < APL_TIMES; i++)
        is->times[i] = end.times[i] - begin->times[i];
}

void apl_numbers_step(const apl_numbers_t *numbers, int64_t now,
                      apl_window_t *is)
{
    apl_moment_t begin;

    find_begin(numbers, 0, 0, now, &begin);
    subtract(numbers, &begin, now, is);
}

void apl_numbers_window(const apl_numbers_t *numbers, int window, int64_t now,
                        apl_window_t *is)
{
    apl_moment_t begin;

    find_begin(numbers, window, apl_window_lengths[window], now, &begin);
    subtract(numbers, &begin, now, is);
}
