/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file delta.h
 * @brief The verb that adds to a number, or subtracts from it.
 *
 * A value is a number if it begins with one: "12 apples" is 12. The result is
 * as long as the old value, with spaces at its end, or longer.
 */
#ifndef APPPOOL_STORE_PROTOCOL_DELTA_H
#define APPPOOL_STORE_PROTOCOL_DELTA_H

#include "store/protocol/verbs.h"

#define STORE_DIGITS 21 /**< of 64 bits, and a NUL */

typedef struct {
    int decrement;
    uint64_t delta;
    uint64_t cas; /**< what the item has to have; 0: any */
    int vivify;   /**< make it, if there is none, with `initial` */
    uint64_t initial;
    uint32_t vivify_exptime;
    int binary_key; /**< of an item that is made, as in store_fetch_t */
    int touch;      /**< give it this exptime */
    uint32_t exptime;

    uint64_t value;   /**< the result */
    uint64_t new_cas; /**< of the item now */
    uint32_t before;  /**< its exptime before the touch */
} store_delta_t;

/** @return STORE_DONE, STORE_CREATED, STORE_NOT_FOUND, STORE_EXISTS (another
 *          cas), STORE_NOT_NUMERIC, STORE_LOCKED_OUT, STORE_NO_MEMORY */
store_result_t store_delta_apply(const store_caller_t *, const void *key,
                                 uint8_t klen, store_delta_t *);

#endif
