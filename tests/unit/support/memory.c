/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "tests/unit/support/memory.h"

#include <apr_general.h>

apr_pool_t *memory;

int memory_begin(void **state)
{
    (void)state;
    apr_initialize();
    return apr_pool_create(&memory, NULL) != APR_SUCCESS;
}

int memory_end(void **state)
{
    (void)state;
    apr_pool_destroy(memory);
    apr_terminate();
    return 0;
}
