/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file dice.h
 * @brief The input of a fuzzer as a sequence of decisions.
 */
#ifndef APPPOOL_TESTS_FUZZ_DICE_H
#define APPPOOL_TESTS_FUZZ_DICE_H

#include <stdint.h>

/** Bytes to decide by; all 0 once they are used up. */
typedef struct {
    const uint8_t *at, *end;
} dice_t;

/** 0 to sides - 1. */
static inline uint32_t dice(dice_t *d, uint32_t sides)
{
    uint32_t n = 0, span;

    for (span = sides; span > 1; span >>= 8) {
        n = n << 8 | (d->at < d->end ? *d->at : 0);
        d->at += d->at < d->end;
    }
    return n % sides;
}

#endif
