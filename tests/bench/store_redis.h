/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file store_redis.h
 * @brief The commands of redis that store_load.c sends with `redis=N`.
 *
 * Each set is followed by `WAIT N 0`: the two replies come when N replicas have
 * the value.
 */
#ifndef APPPOOL_TESTS_BENCH_STORE_REDIS_H
#define APPPOOL_TESTS_BENCH_STORE_REDIS_H

#include <stddef.h>

/** Write a command. @return its bytes */
size_t redis_get(char *to, const char *key);
/** @param replicas 1 to 9 */
size_t redis_set(char *to, const char *key, const char *value, size_t n,
                 int replicas);

/**
 * A reply at the beginning of these bytes.
 * @param replicas that have to have the value of a set; 0: it is a get
 * @param value out: of a get; NULL: there is none, or it is the reply to a set
 * @param length out: of the value
 * @param good out: it is no error
 * @return its length, or 0: there is more to come
 */
size_t redis_reply(const char *in, size_t n, int replicas, const char **value,
                   size_t *length, int *good);

#endif
