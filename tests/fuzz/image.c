/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Makes seeds for segment.c: plays an input of pool.c, and writes the resulting
 * pool as an input of segment.c.
 *
 *     tests/fuzz/image <tests/fuzz/corpus/pool/FILE >SEED */

#include <stdio.h>

#include "tests/fuzz/play.h"

static void put(const void *from, size_t size)
{
    fwrite(from, 1, size, stdout);
}

int main(void)
{
    /* 31 bytes that decide what segment.c does with it. */
    static const uint8_t script[] = {31, 0, 1, 2, 3, 5, 8, 13, 21, 17, 18, 19};
    static uint8_t input[65536];
    size_t n = fread(input, 1, sizeof input, stdin), i;
    dice_t d = {input, input + n};
    play_t *p = play_begin();
    const apl_pool_t *pool = &p->pool;

    play(p, &d, 1);
    for (i = 0; i < 32; i++)
        putchar(script[i % sizeof script]);
    put(pool->header, offsetof(apl_header_t, events));
    put(pool->processes + 1, (pool->n.processes - 1) * sizeof *pool->processes);
    put(pool->sessions + 1, (pool->n.sessions - 1) * sizeof *pool->sessions);
    put(pool->children + 1, (pool->n.children - 1) * sizeof *pool->children);
    put(pool->groups + 1, (pool->n.groups - 1) * sizeof *pool->groups);
    return 0;
}
