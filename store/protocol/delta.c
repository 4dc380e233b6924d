/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/protocol/delta.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "store/protocol/token.h"
#include "store/protocol/verbs.h"

#define NUMBER  64                  /* bytes that may belong to the number */
#define LONGEST (UINT32_C(1) << 19) /* bytes; longer values are text */
#define KEPT    (STORE_FETCHED | STORE_STALE | STORE_TOKEN_SENT | STORE_KEY_BINARY)

static int number(const store_space_t *space, const store_item_t *item,
                  uint64_t *value)
{
    uint32_t n = item->length < NUMBER ? item->length : NUMBER;
    char text[NUMBER];

    store_item_read(space, item, 0, text, n);
    return store_token_u64((store_token_t){text, n}, value);
}

static uint64_t result(const store_delta_t *d, uint64_t value)
{
    if (!d->decrement)
        return value + d->delta;
    return d->delta > value ? 0 : value - d->delta;
}

/* The digits, and spaces to the length of the old value. */
static int fill(store_copy_t *copy, uint64_t value)
{
    char text[STORE_DIGITS];
    uint32_t n = (uint32_t)snprintf(text, sizeof text, "%" PRIu64, value);
    uint32_t length = copy->old->length > n ? copy->old->length : n, run;

    if (!store_copy_make(copy, length))
        return 0;
    store_item_write(copy->space, copy->item, 0, text, n);
    for (; n < length; n += run) {
        char *at = store_item_bytes(copy->space, copy->item, n, &run);

        memset(at, ' ', run);
    }
    return 1;
}

static store_result_t prepare(const store_caller_t *caller, store_copy_t *copy,
                              store_delta_t *d)
{
    uint64_t value;

    if (store_key_lock_forbids(caller, copy->old))
        return STORE_LOCKED_OUT;
    if (copy->old->length == 0 || copy->old->length > LONGEST)
        return STORE_NOT_NUMERIC;
    if (d->cas != 0 && copy->old->cas != d->cas)
        return STORE_EXISTS;
    if (!number(copy->space, copy->old, &value))
        return STORE_NOT_NUMERIC;
    d->value = result(d, value);
    return fill(copy, d->value) ? STORE_DONE : STORE_NO_MEMORY;
}

/* memcached overwrites a value of the same length: its bits stay. */
static void inherit(store_bucket_t *bucket, store_item_t *item,
                    const store_item_t *old)
{
    if (item->length == old->length)
        store_index_bits(bucket, item, STORE_GET(old->bits) & KEPT, 0);
    else
        store_copy_key_bit(item, old);
}

/* Under the lock. */
static void put_present(const store_caller_t *caller, store_bucket_t *bucket,
                        store_copy_t *copy, store_delta_t *d)
{
    if (copy->old) {
        d->before = STORE_GET(copy->old->exptime);
        inherit(bucket, copy->item, copy->old);
        /* memcached touches the old item if the number gets longer. */
        if (d->touch && copy->item->length == copy->old->length)
            store_index_touch(bucket, copy->item, d->exptime);
    }
    d->new_cas = store_key_lock_put(caller, bucket, copy->item, copy->old);
}

/* @return 0: another thread was faster */
static int put(const store_caller_t *caller, store_copy_t *copy,
               store_delta_t *d, store_result_t *rv)
{
    store_bucket_t bucket;
    int present;

    store_index_lock(&bucket, copy->space, copy->key, copy->klen);
    present = store_copy_is_present(copy, &bucket);
    if (present && copy->old && store_key_lock_forbids(caller, copy->old))
        *rv = STORE_LOCKED_OUT;
    else if (present)
        put_present(caller, &bucket, copy, d);
    store_index_unlock(&bucket);
    return present;
}

static store_result_t create(store_copy_t *copy, store_delta_t *d)
{
    char text[STORE_DIGITS];
    uint32_t n = (uint32_t)snprintf(text, sizeof text, "%" PRIu64, d->initial);

    copy->item = store_item_make(copy->space, copy->key, copy->klen, 0,
                                 d->vivify_exptime, n);
    if (!copy->item)
        return STORE_NO_MEMORY;
    store_item_write(copy->space, copy->item, 0, text, n);
    if (d->binary_key)
        store_copy_mark(copy->item, STORE_KEY_BINARY);
    d->value = d->initial;
    d->before = 0;
    return STORE_CREATED;
}

static void count(const store_caller_t *caller, const store_delta_t *d,
                  store_result_t rv)
{
    if (rv == STORE_DONE)
        store_count(caller->counters,
                    d->decrement ? STORE_DECR_HITS : STORE_INCR_HITS, 1);
    if (rv == STORE_NOT_FOUND)
        store_count(caller->counters,
                    d->decrement ? STORE_DECR_MISSES : STORE_INCR_MISSES, 1);
}

store_result_t store_delta_apply(const store_caller_t *caller, const void *key,
                                 uint8_t klen, store_delta_t *d)
{
    store_copy_t copy = {.space = caller->space,
                         .copied = caller->copied,
                         .key = key,
                         .klen = klen};
    store_result_t rv;
    int done;

    do {
        if (store_copy_begin(&copy))
            rv = prepare(caller, &copy, d);
        else
            rv = d->vivify ? create(&copy, d) : STORE_NOT_FOUND;
        done = (rv != STORE_DONE && rv != STORE_CREATED) ||
               put(caller, &copy, d, &rv);
        store_copy_end(&copy);
    } while (!done);
    count(caller, d, rv);
    return rv;
}
