/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/format/timing.h"

#define LEAST   6 /* 64 us is 2^LEAST */
#define OCTAVES 26
#define STEPS   4 /* of an octave */

_Static_assert(APL_TIMES == OCTAVES * STEPS + 2, "one below, and one above");
_Static_assert(APL_TIME_NONE <= UINT8_MAX, "a class is a byte in a step");

uint32_t apl_timing_class(int64_t us)
{
    uint32_t zeros, octave, mantissa;

    if (us < 1 << LEAST)
        return 0;
    zeros = (uint32_t)__builtin_clzll((unsigned long long)us);
    octave = 63 - zeros - LEAST;
    if (octave >= OCTAVES)
        return APL_TIMES - 1;
    /* From 2^15 to 2^16 in its octave; compared with 2^(15 + 1/4), ... */
    mantissa = (uint32_t)((uint64_t)us << zeros >> 48);
    return 1 + STEPS * octave + (mantissa >= 38968) + (mantissa >= 46341) +
           (mantissa >= 55109);
}

int64_t apl_timing_value(uint32_t class)
{
    /* 2^(1/8), 2^(3/8), ... */
    static const double means[STEPS] = {1.0905077, 1.2968396, 1.5422108,
                                        1.8340081};

    if (class == 0)
        return (1 << LEAST) / 2;
    if (class >= APL_TIMES - 1)
        return INT64_C(1) << (LEAST + OCTAVES);
    return (int64_t)((double)(INT64_C(1) << (LEAST + (class - 1) / STEPS)) *
                         means[(class - 1) % STEPS] +
                     0.5);
}

uint32_t apl_timing_percentile(const uint32_t counts[APL_TIMES], uint32_t part)
{
    uint64_t total = 0, below = 0, rank;
    uint32_t i;

    for (i = 0; i < APL_TIMES; i++)
        total += counts[i];
    if (total == 0)
        return APL_TIME_NONE;
    rank = (total * part + 99) / 100;
    for (i = 0; i < APL_TIMES - 1; i++) {
        below += counts[i];
        if (below >= rank)
            return i;
    }
    return APL_TIMES - 1;
}
