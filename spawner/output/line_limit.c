/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/output/line_limit.h"

/* Bytes of one process. Each line counts as some bytes more. So in a second an
 * AppLog takes 13,000 lines of 100 bytes, and an error log takes 660. */
#define LINE_COST  200
#define OWN_RATE   4000000
#define OWN_SIZE   8000000
#define ERROR_RATE 200000
#define ERROR_SIZE 1000000

int line_limit_allows(token_bucket_t *bucket, int own, int64_t now,
                      size_t length)
{
    return token_bucket_take(bucket, now, own ? OWN_RATE : ERROR_RATE,
                             own ? OWN_SIZE : ERROR_SIZE,
                             (int64_t)length + LINE_COST);
}
