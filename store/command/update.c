/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/command/update.h"

#include <stddef.h>

#include "store/clock.h"
#include "store/command/copy.h"
#include "store/command/key_lock.h"

static void count(const store_caller_t *caller, unsigned what)
{
    store_count(caller->counters, what, 1);
}

/* May an item be stored where there is this one, or none (NULL), as far as its
 * mode says? A cas that does not match is refused. */
static store_result_t judge_mode(const store_update_t *how,
                                 const store_item_t *old)
{
    if (old == NULL)
        switch (how->mode) {
        case STORE_MODE_SET:
        case STORE_MODE_ADD:
            return STORE_DONE;
        case STORE_MODE_CAS:
            return STORE_NOT_FOUND;
        default:
            return STORE_NOT_STORED;
        }
    switch (how->mode) {
    case STORE_MODE_ADD:
        return STORE_NOT_STORED;
    case STORE_MODE_CAS:
        if (how->cas != 0 && how->cas == old->cas)
            return STORE_DONE;
        return how->cas != 0 && how->stale && how->cas < old->cas
                   ? STORE_DONE
                   : STORE_EXISTS;
    case STORE_MODE_APPEND:
    case STORE_MODE_PREPEND:
        return how->cas == 0 || how->cas == old->cas ? STORE_DONE
                                                     : STORE_EXISTS;
    default:
        return STORE_DONE;
    }
}

static store_result_t judge(const store_caller_t *caller,
                            const store_update_t *how, const store_item_t *old)
{
    if (old && how->unlock && !store_key_lock_has(caller, old))
        return STORE_NOT_LOCKED;
    if (old && store_key_lock_forbids(caller, old))
        return STORE_LOCKED_OUT;
    return judge_mode(how, old);
}

static void count_cas(const store_caller_t *caller, const store_update_t *how,
                      store_result_t rv)
{
    if (how->mode != STORE_MODE_CAS || rv == STORE_LOCKED_OUT ||
        rv == STORE_NOT_LOCKED)
        return;
    count(caller, rv == STORE_DONE     ? STORE_CAS_HITS
                  : rv == STORE_EXISTS ? STORE_CAS_BADVAL
                                       : STORE_CAS_MISSES);
}

/* What is older than the present item is stale, and expires when that does. */
static void inherit(store_bucket_t *bucket, store_item_t *item,
                    const store_item_t *old)
{
    store_index_touch(bucket, item, STORE_GET(old->exptime));
    store_index_bits(bucket, item,
                     STORE_STALE | (STORE_GET(old->bits) & STORE_TOKEN_SENT),
                     0);
}

static store_result_t replace(const store_caller_t *caller, store_item_t *item,
                              const store_update_t *how, uint64_t *cas)
{
    store_bucket_t bucket;
    store_item_t *old;
    store_result_t rv;

    store_index_lock(&bucket, caller->space, store_item_key(item), item->klen);
    old = store_index_find(&bucket, NULL);
    rv = judge(caller, how, old);
    if (rv == STORE_DONE) {
        if (old && how->mode == STORE_MODE_CAS && how->cas != old->cas)
            inherit(&bucket, item, old);
        *cas = store_key_lock_put(caller, &bucket, item, old);
        if (how->unlock)
            store_key_lock_drop(caller, item);
    }
    else if (how->mode == STORE_MODE_ADD && rv == STORE_NOT_STORED) {
        /* The present one counts as used. */
        STORE_SET(old->used, store_clock());
    }
    store_index_unlock(&bucket);
    return rv;
}

/* Both values in a new item. */
static store_result_t join(store_copy_t *copy, const store_item_t *item,
                           bool append)
{
    const store_item_t *first = append ? copy->old : item;
    const store_item_t *second = append ? item : copy->old;

    if (!store_copy_make(copy, (uint64_t)first->length + second->length))
        return STORE_NOT_STORED;
    store_copy_key_bit(copy->item, item);
    store_copy_value(copy->space, first, copy->item, 0);
    store_copy_value(copy->space, second, copy->item, first->length);
    return STORE_DONE;
}

static store_result_t extend(const store_caller_t *caller, store_item_t *item,
                             const store_update_t *how, uint64_t *cas)
{
    store_copy_t copy = {.space = caller->space,
                         .copied = caller->copied,
                         .key = store_item_key(item),
                         .klen = item->klen};
    store_bucket_t bucket;
    store_result_t rv;
    bool done;

    do {
        store_copy_begin(&copy);
        rv = judge(caller, how, copy.old);
        if (rv == STORE_DONE)
            rv = join(&copy, item, how->mode == STORE_MODE_APPEND);
        done = rv != STORE_DONE;
        if (!done) {
            store_index_lock(&bucket, copy.space, copy.key, copy.klen);
            done = store_copy_is_present(&copy, &bucket);
            if (done)
                rv = judge(caller, how, copy.old);
            if (done && rv == STORE_DONE)
                *cas = store_key_lock_put(caller, &bucket, copy.item, copy.old);
            store_index_unlock(&bucket);
        }
        store_copy_end(&copy);
    } while (!done);
    return rv;
}

store_result_t store_update(const store_caller_t *caller, store_item_t *item,
                            const store_update_t *how, uint64_t *cas)
{
    store_result_t rv;

    *cas = 0;
    count(caller, STORE_SETS);
    if (how->mode == STORE_MODE_APPEND || how->mode == STORE_MODE_PREPEND)
        rv = extend(caller, item, how, cas);
    else
        rv = replace(caller, item, how, cas);
    count_cas(caller, how, rv);
    return rv;
}
