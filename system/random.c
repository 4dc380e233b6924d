/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "system/random.h"

#include <sys/random.h>
#include <sys/types.h>

uint64_t random_id(void)
{
    uint64_t bits = 0;

    while (getrandom(&bits, sizeof bits, 0) != (ssize_t)sizeof bits)
        ;
    return bits;
}
