/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/view/report_times.h"

#include <apr_time.h>
#include <stdio.h>

#include "shm/lock/lock_token.h"
#include "shm/format/histogram.h"

json_t *apl_report_instant(int64_t t)
{
    apr_time_exp_t e;
    char iso[96];

    apr_time_exp_gmt(&e, (apr_time_t)((uint64_t)apr_time_now() +
                                      (uint64_t)apl_since(t, apl_now())));
    snprintf(iso, sizeof iso, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ",
             e.tm_year + 1900, e.tm_mon + 1, e.tm_mday, e.tm_hour, e.tm_min,
             e.tm_sec, e.tm_usec / 1000);
    return json_string(iso);
}

json_t *apl_report_histogram(const apl_histogram_t *h)
{
    json_t *o = json_object(), *buckets = json_array();
    uint64_t n = 0;
    int i;

    for (i = 0; i < APL_HISTOGRAM_BOUNDS; i++) {
        json_t *bucket = json_object();

        n += h->counts[i];
        json_object_set_new(bucket, "le",
                            json_real((double)apl_histogram_bounds[i] / 1e6));
        json_object_set_new(bucket, "count", json_integer((json_int_t)n));
        json_array_append_new(buckets, bucket);
    }
    n += h->counts[APL_HISTOGRAM_BOUNDS];
    json_object_set_new(o, "count", json_integer((json_int_t)n));
    json_object_set_new(o, "sum", json_real((double)h->sum / 1e6));
    json_object_set_new(o, "buckets", buckets);
    return o;
}

static json_t *between(const apl_sample_t *a, const apl_sample_t *b)
{
    double s = (double)apl_since(b->time, a->time) / 1e6;
    double took = (double)(b->app_time - a->app_time) / 1e6;
    uint64_t served = b->served - a->served;
    json_t *o = json_object();

    json_object_set_new(o, "time", apl_report_instant(b->time));
    json_object_set_new(o, "seconds", json_real(s));
    json_object_set_new(o, "rate",
                        json_real((double)(b->requests - a->requests) / s));
    json_object_set_new(o, "latency",
                        served > 0 ? json_real(took / (double)served)
                                   : json_null());
    json_object_set_new(o, "queue", json_integer(b->waiting));
    json_object_set_new(o, "busy", json_integer(b->busy));
    return o;
}

json_t *apl_report_history(const apl_header_t *h)
{
    json_t *history = json_array();
    uint64_t n = h->n_samples < APL_SAMPLE_MAX ? h->n_samples : APL_SAMPLE_MAX;
    uint64_t i;

    for (i = 1; i < n; i++) {
        uint64_t at = h->n_samples - n + i;
        const apl_sample_t *b = &h->samples[at % APL_SAMPLE_MAX];
        const apl_sample_t *a = &h->samples[(at - 1) % APL_SAMPLE_MAX];

        /* Counters that went back are damage. */
        if (b->time > a->time && b->requests >= a->requests &&
            b->served >= a->served && b->app_time >= a->app_time)
            json_array_append_new(history, between(a, b));
    }
    return history;
}
