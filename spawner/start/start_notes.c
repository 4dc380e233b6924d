/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/start/start.h"

#include <stdint.h>

#define MAX 512 /* sentences; if there are more, the oldest is forgotten */

static uint64_t said[MAX];
static unsigned next;

/* FNV-1a */
static uint64_t add(uint64_t hash, const char *text)
{
    do
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    while (*text++);
    return hash;
}

int start_notes_is_new(const char *app, const char *text)
{
    uint64_t hash = add(add(UINT64_C(0xcbf29ce484222325), app), text);
    unsigned i;

    for (i = 0; i < MAX; i++)
        if (said[i] == hash)
            return 0;
    said[next++ % MAX] = hash;
    return 1;
}
