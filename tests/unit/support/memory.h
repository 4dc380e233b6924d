/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file memory.h
 * @brief APR, and a memory pool for all tests of a program.
 */
#ifndef APPPOOL_TESTS_UNIT_SUPPORT_MEMORY_H
#define APPPOOL_TESTS_UNIT_SUPPORT_MEMORY_H

#include <apr_pools.h>

/** The pool; made and destroyed by these two, which are cmocka's. */
extern apr_pool_t *memory;
int memory_begin(void **state);
int memory_end(void **state);

#endif
