/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/verbs/history.h"

#include "shm/verbs/enter.h"

APL_UNLOCKED static int is_due(const apl_header_t *h, int64_t now)
{
    uint64_t n = h->n_samples;
    int64_t age = apl_since(now, h->samples[(n - 1) % APL_SAMPLE_MAX].time);

    return n == 0 || age < 0 || age >= APL_SAMPLE_PERIOD;
}

apr_status_t apl_history_sample(apl_pool_t *pool, int64_t now)
{
    apl_header_t *h = pool->header;
    apl_sample_t *to;
    apl_lock_token_t token;
    apr_status_t rv;

    if (!is_due(h, now))
        return APR_SUCCESS;
    rv = apl_enter_patiently(&token, pool, now);
    if (rv != APR_SUCCESS)
        return rv;
    to = &h->samples[h->n_samples % APL_SAMPLE_MAX];
    to->time = now;
    to->requests = h->counters.requests;
    to->served = h->counters.served;
    to->app_time = h->counters.app_time;
    to->busy = h->active;
    to->waiting = h->peak > h->waiting ? h->peak : h->waiting;
    h->peak = h->waiting;
    APL_CRASH_POINT("sample_written");
    h->n_samples++;
    apl_leave(&token);
    return APR_SUCCESS;
}
