/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "tests/bench/store_keys.h"

#include <stdio.h>
#include <stdlib.h>

#define OFFSETS 256
#define FIRST   88172645463325252u

static struct {
    uint32_t n;
    size_t shortest, longest;
    char *block;    /* parts of it are the values */
    double *shares; /* of the keys up to this one, of all; NULL: all the same */
    uint64_t state;
} keys;

/* xorshift64* */
uint64_t keys_random(void)
{
    keys.state ^= keys.state >> 12;
    keys.state ^= keys.state << 25;
    keys.state ^= keys.state >> 27;
    return keys.state * 2685821657736338717u;
}

static void *memory(size_t n)
{
    void *p = malloc(n);

    if (!p) {
        perror("memory");
        exit(1);
    }
    return p;
}

static void make_shares(void)
{
    double sum = 0;
    uint32_t i;

    keys.shares = memory(keys.n * sizeof *keys.shares);
    for (i = 0; i < keys.n; i++)
        keys.shares[i] = sum += 1 / (double)(i + 1);
    for (i = 0; i < keys.n; i++)
        keys.shares[i] /= sum;
}

void keys_make(uint32_t n, size_t shortest, size_t longest, int zipf,
               uint64_t seed)
{
    size_t i;

    keys.n = n;
    keys.shortest = shortest;
    keys.longest = longest;
    keys.state = FIRST;
    keys.block = memory(longest + OFFSETS);
    for (i = 0; i < longest + OFFSETS; i++)
        keys.block[i] = (char)('!' + keys_random() % 90);
    keys.state = seed * 7919 + FIRST; /* the values are the same for all */
    if (zipf)
        make_shares();
}

size_t keys_length(uint32_t key)
{
    return keys.shortest +
           key * 2654435761u % (keys.longest - keys.shortest + 1);
}

const char *keys_value(uint32_t key)
{
    return keys.block + key % OFFSETS;
}

uint32_t keys_any(void)
{
    double wanted = (double)(keys_random() >> 11) / (double)(UINT64_C(1) << 53);
    uint32_t low = 0, high = keys.n - 1;

    if (!keys.shares)
        return (uint32_t)(wanted * keys.n);
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (keys.shares[middle] < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
