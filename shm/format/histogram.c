/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/format/histogram.h"

const int64_t apl_histogram_bounds[APL_HISTOGRAM_BOUNDS] = {
    1000,   2500,    5000,    10000,   25000,    50000,    100000,  250000,
    500000, 1000000, 2500000, 5000000, 10000000, 30000000, 60000000};

uint64_t apl_histogram_count(apl_histogram_t *h, int64_t us)
{
    uint64_t took = us > 0 ? (uint64_t)us : 0;
    int i = 0;

    while (i < APL_HISTOGRAM_BOUNDS && us > apl_histogram_bounds[i])
        i++;
    h->counts[i]++;
    h->sum += took;
    return took;
}
