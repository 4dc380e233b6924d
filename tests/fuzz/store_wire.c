/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The packets between two stores: any bytes. A packet that is read is within its
 * limits, and is written as the same bytes.
 *
 * Input: the bytes that are sent. */

#include "store/cluster/wire.h"

#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

static void must(int truth)
{
    if (!truth)
        abort();
}

static void check(const store_packet_t *p, const char *key, const char *from,
                  int size)
{
    unsigned char again[STORE_WIRE_SMALL_MAX];

    must(p->klen <= STORE_KEY_MAX && p->value <= STORE_WIRE_VALUE_MAX);
    must(key >= from && key + p->klen == from + size);
    must(store_wire_put(p, key, again) == (size_t)size);
    /* The fields that nobody uses may have been anything. */
    must(memcmp(again, from, 5) == 0);
    must(memcmp(again + 8, from + 8, (size_t)size - 8) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    while (size > 0) {
        size_t n = size < STORE_WIRE_SMALL_MAX ? size : STORE_WIRE_SMALL_MAX;
        char *copy = malloc(n); /* so that a sanitizer sees its end */
        const char *key = NULL;
        store_packet_t p;
        int done, i;

        must(copy != NULL);
        memcpy(copy, data, n);
        done = store_wire_head(copy, n, &p, &key);
        if (done > 0)
            check(&p, key, copy, done);
        for (i = 0; i < done; i++)
            must(store_wire_head(copy, (size_t)i, &p, &key) == 0);
        free(copy);
        if (done <= 0)
            return 0;
        data += done;
        size -= (size_t)done;
    }
    return 0;
}
