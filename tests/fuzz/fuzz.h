/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file fuzz.h
 * @brief What libFuzzer calls.
 */
#ifndef APPPOOL_TESTS_FUZZ_FUZZ_H
#define APPPOOL_TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
