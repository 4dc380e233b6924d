/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/verbs/app_stderr.h"

#include <string.h>

#include "shm/verbs/enter.h"

#define PATIENCE 10000 /* us that a request waits for the lock */

/* How many wait? An impossible number is damage: then there are none. */
static uint64_t count(apl_header_t *h)
{
    uint64_t n = h->n_stderr - h->n_stderr_taken;

    if (n <= APL_STDERR_MAX)
        return n;
    h->n_stderr_taken = h->n_stderr;
    return 0;
}

apr_status_t apl_app_stderr_put(apl_pool_t *pool, uint64_t id, int logged,
                                const char *text, apr_size_t size, int64_t now)
{
    apl_header_t *h = pool->header;
    apl_lock_token_t token;
    apr_status_t rv = apl_enter(&token, pool, now, PATIENCE);
    apl_stderr_t *to;
    uint64_t n;

    if (rv != APR_SUCCESS)
        return rv;
    n = count(h);
    if (n < APL_STDERR_MAX) {
        to = &pool->lines[h->n_stderr % APL_STDERR_MAX];
        to->id = id;
        to->logged = (uint32_t)logged;
        to->size = (uint32_t)size;
        memcpy(to->text, text, size);
        APL_CRASH_POINT("stderr_written");
        h->n_stderr++;
        token.ring |= n == 0;
    }
    apl_leave(&token);
    return n < APL_STDERR_MAX ? APR_SUCCESS : APL_EFULL;
}

APL_UNLOCKED static int is_empty(const apl_header_t *h)
{
    return h->n_stderr == h->n_stderr_taken;
}

apr_status_t apl_app_stderr_take(apl_pool_t *pool, apl_stderr_t *to,
                                 int64_t now)
{
    apl_header_t *h = pool->header;
    apl_lock_token_t token;
    apr_status_t rv;
    uint64_t n;

    if (is_empty(h))
        return APR_EOF;
    rv = apl_enter_patiently(&token, pool, now);
    if (rv != APR_SUCCESS)
        return rv;
    n = count(h);
    if (n > 0) {
        memcpy(to, &pool->lines[h->n_stderr_taken % APL_STDERR_MAX],
               sizeof *to);
        h->n_stderr_taken++;
    }
    apl_leave(&token);
    if (n > 0 && to->size > sizeof to->text)
        to->size = sizeof to->text;
    return n > 0 ? APR_SUCCESS : APR_EOF;
}
