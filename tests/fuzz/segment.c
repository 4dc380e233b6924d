/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Any bytes as a segment: repair ends, stays in bounds, and leaves a pool in
 * which all invariants hold, and still hold after any verbs.
 *
 * The numbers of applications are the input, over and over, if n has bit 1.
 *
 * Input: a byte n, then n bytes that decide, and the image in this order: the
 * header up to its events, processes, sessions, children, groups, the rest of
 * the header. */

#include <stdlib.h>
#include <string.h>

#include "shm/verbs/response.h"
#include "shm/verbs/step.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/play.h"

static void fill(dice_t *image, void *to, size_t size)
{
    size_t left = (size_t)(image->end - image->at);

    if (size > left)
        size = left;
    memcpy(to, image->at, size);
    image->at += size;
}

static void lay(const apl_pool_t *pool, dice_t *image)
{
    apl_header_t *h = pool->header;
    size_t begin = offsetof(apl_header_t, events);

    fill(image, h, begin);
    fill(image, pool->processes + 1,
         (pool->n.processes - 1) * sizeof *pool->processes);
    fill(image, pool->sessions + 1,
         (pool->n.sessions - 1) * sizeof *pool->sessions);
    fill(image, pool->children + 1,
         (pool->n.children - 1) * sizeof *pool->children);
    fill(image, pool->groups + 1, (pool->n.groups - 1) * sizeof *pool->groups);
    fill(image, h->events, sizeof *h - begin);
}

/* The numbers of each group are these bytes, over and over. */
static void lay_numbers(const apl_pool_t *pool, const uint8_t *data,
                        size_t size)
{
    uint32_t i;
    size_t k;

    for (i = 1; size > 0 && i < pool->n.groups; i++) {
        uint8_t *to = (uint8_t *)&pool->numbers[i];

        for (k = 0; k < sizeof *pool->numbers; k++)
            to[k] = data[(k + i) % size];
        pool->groups[i].counted = 1;
        pool->numbers[i].generation = pool->groups[i].generation;
    }
}

static void use_numbers(play_t *p)
{
    static apl_step_use_t use[8];
    const apl_response_t response = {200, APL_FAULT_OTHER, 1, 1000};
    int i;

    for (i = 0; i < PLAY_APPS; i++)
        apl_response_count(&p->pool, &p->apps[i], &response, p->now, 1);
    memset(use, 0, sizeof use);
    if (p->pool.n.groups > sizeof use / sizeof *use)
        abort();
    apl_step_sample(&p->pool, use, p->now);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t n = size > 0 ? data[0] : 0;
    dice_t script, image;
    play_t *p = play_begin();

    n = n < size ? n : size > 0 ? size - 1 : 0;
    script = (dice_t){data + (size > 0), data + (size > 0) + n};
    image = (dice_t){script.end, data + size};
    lay(&p->pool, &image);
    p->pool.header->lock = 0;
    p->hostile = 1;
    /* Half of the inputs are used before a repair; then the pool is
     * repaired. */
    if (n & 2)
        lay_numbers(&p->pool, data, size);
    if (n & 1) {
        use_numbers(p);
        play_look(p);
        play(p, &script, 0);
    }
    play_repair(p);
    play(p, &script, 0);
    play_repair(p);
    return 0;
}
