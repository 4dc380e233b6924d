/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/recovery/check_state.h"

#include <stdarg.h>
#include <stdio.h>

__attribute__((format(printf, 3, 4))) int
apl_check_state_found(apl_check_t *a, int number, const char *format, ...)
{
    va_list args;

    a->finding.number = number;
    a->finding.slot = a->at;
    va_start(args, format);
    vsnprintf(a->finding.text, sizeof a->finding.text, format, args);
    va_end(args);
    return APL_PART_BAD;
}
