/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/output/output.h"

#include <stdio.h>

const char *log_rules_name(const char *route, log_name_t name)
{
    if (*route == LOG_PROGRAM_ERRORLOG)
        snprintf(name, sizeof(log_name_t), "the ErrorLog of a virtual host");
    else
        snprintf(name, sizeof(log_name_t), "AppLog %s", route);
    return name;
}

/* Bytes of one process. Each line counts as some bytes more. So in a second an
 * AppLog takes 13,000 lines of 100 bytes, and an error log takes 660. */
#define LINE_COST  200
#define OWN_RATE   4000000
#define OWN_SIZE   8000000
#define ERROR_RATE 200000
#define ERROR_SIZE 1000000

int log_rules_allow(token_bucket_t *bucket, int own, int64_t now, size_t length)
{
    return token_bucket_take(bucket, now, own ? OWN_RATE : ERROR_RATE,
                             own ? OWN_SIZE : ERROR_SIZE,
                             (int64_t)length + LINE_COST);
}
