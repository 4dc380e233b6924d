/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file atomic.h
 * @brief Fields that a thread may read while another one writes them. The name
 *        of each macro says the order.
 *
 * STORE_GET, STORE_SET and STORE_ADD order nothing: the value is all that its
 * reader needs, as of a counter, or a lock orders the rest.
 *
 * A reader that sees a value of STORE_SET_RELEASE() by STORE_GET_ACQUIRE() also
 * sees what its writer has written before.
 *
 * Of STORE_SET_ORDERED() and STORE_GET_ORDERED() all threads see one order. So
 * of two threads that each write a field and then look at the other's, at least
 * one sees what the other one has written.
 *
 * An exchange, or an addition whose result is used, names its order itself.
 */
#ifndef APPPOOL_STORE_ATOMIC_H
#define APPPOOL_STORE_ATOMIC_H

#define STORE_GET(field) __atomic_load_n(&(field), __ATOMIC_RELAXED)
#define STORE_SET(field, value)                                                \
    __atomic_store_n(&(field), value, __ATOMIC_RELAXED)
#define STORE_ADD(field, n)                                                    \
    ((void)__atomic_fetch_add(&(field), n, __ATOMIC_RELAXED))

#define STORE_GET_ACQUIRE(field) __atomic_load_n(&(field), __ATOMIC_ACQUIRE)
#define STORE_SET_RELEASE(field, value)                                        \
    __atomic_store_n(&(field), value, __ATOMIC_RELEASE)

#define STORE_GET_ORDERED(field) __atomic_load_n(&(field), __ATOMIC_SEQ_CST)
#define STORE_SET_ORDERED(field, value)                                        \
    __atomic_store_n(&(field), value, __ATOMIC_SEQ_CST)

#endif
