/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/status/status.h"

#include <apr_escape.h>
#include <apr_siphash.h>
#include <apr_strings.h>
#include <string.h>

#define STEP (APR_INT64_C(300) * APR_USEC_PER_SEC)
#define OLD  3 /* steps */

static unsigned char key[APR_SIPHASH_KSIZE];

void apppool_status_token_begin(void)
{
    apr_generate_random_bytes(key, sizeof key);
}

/* "STEP-MAC", both in hex. */
static const char *make(request_rec *r, apr_int64_t step)
{
    const char *user = r->user ? r->user : "";
    char *text = apr_psprintf(r->pool, "%" APR_INT64_T_FMT " %s", step, user);
    unsigned char mac[APR_SIPHASH_DSIZE];

    apr_siphash24_auth(mac, text, strlen(text), key);
    return apr_psprintf(r->pool, "%" APR_UINT64_T_HEX_FMT "-%s",
                        (apr_uint64_t)step,
                        apr_pescape_hex(r->pool, mac, sizeof mac, 0));
}

const char *apppool_status_token(request_rec *r)
{
    return make(r, r->request_time / STEP);
}

/* In constant time for texts of the same length; the length is no secret. */
static int equal(const char *a, const char *b)
{
    size_t i, n = strlen(a);
    unsigned differs = 0;

    if (strlen(b) != n)
        return 0;
    for (i = 0; i < n; i++)
        differs |= (unsigned)(a[i] ^ b[i]);
    return differs == 0;
}

int apppool_status_token_ok(request_rec *r, const char *token)
{
    apr_int64_t now = r->request_time / STEP;
    apr_int64_t step = apr_strtoi64(token, NULL, 16);

    return step <= now && step >= now - OLD && equal(token, make(r, step));
}
