/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file token_bucket.h
 * @brief A token bucket: it limits how much of something is allowed. It is full
 *        at first, and is refilled all the time.
 *
 * Units: us of any one clock that does not go back.
 */
#ifndef APPPOOL_BASE_TOKEN_BUCKET_H
#define APPPOOL_BASE_TOKEN_BUCKET_H

#include <stdint.h>

#define TOKEN_BUCKET_SECOND ((int64_t)1000000)

/** Zeroed: full. */
typedef struct {
    int64_t at;   /**< us: the last refill */
    int64_t gone; /**< tokens that it lacks, times 1,000,000 */
} token_bucket_t;

/**
 * Take `cost` tokens.
 * @param rate tokens a second that flow in
 * @param size tokens that it can hold; both below 10^9
 * @return 0: there are not that many, and none was taken
 */
static inline int token_bucket_take(token_bucket_t *b, int64_t now,
                                    int64_t rate, int64_t size, int64_t cost)
{
    int64_t passed = now - b->at;

    b->at = now;
    if (passed > 1000 * TOKEN_BUCKET_SECOND)
        passed = 1000 * TOKEN_BUCKET_SECOND; /* no overflow below */
    if (passed > 0)
        b->gone -= passed * rate;
    if (b->gone < 0)
        b->gone = 0;
    if (b->gone + cost * TOKEN_BUCKET_SECOND > size * TOKEN_BUCKET_SECOND)
        return 0;
    b->gone += cost * TOKEN_BUCKET_SECOND;
    return 1;
}

#endif
