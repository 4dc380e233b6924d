/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The verbs of the pool in any order, from an empty pool on. After each all
 * invariants hold. Somebody writes plausible wrong values in between: then
 * each verb ends and stays in bounds; and after the next repair the invariants
 * hold again, from verb to verb. */

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
