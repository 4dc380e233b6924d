/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The verbs of the pool in any order, beginning with an empty pool. After each
 * verb all invariants hold. In between, plausible wrong values are written.
 * Then each verb ends and stays in bounds. After the next repair the invariants
 * hold again after each verb. */

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/play.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dice_t d = {data, data + size};
    play_t *p = play_begin();

    play(p, &d, 1);
    play_repair(p);
    return 0;
}
