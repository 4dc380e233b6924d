/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/backend/websocket_close.h"

#define OPCODE 0x0f
#define CLOSE  0x08
#define FINAL  0x80 /* in the first byte */
#define MASKED 0x80 /* in the second */
#define LENGTH 0x7f
#define SHORT  126 /* two bytes of length follow */
#define LONG   127 /* eight */

static unsigned length_bytes(const apppool_farewell_t *f)
{
    unsigned is = f->head[1] & LENGTH;

    return is == SHORT ? 2 : is == LONG ? 8 : 0;
}

static unsigned head_bytes(const apppool_farewell_t *f)
{
    if (f->n < 2)
        return 2;
    return 2 + length_bytes(f) + (f->head[1] & MASKED ? 4 : 0);
}

/* The head is whole: what does it say? */
static void begin_payload(apppool_farewell_t *f)
{
    unsigned i, n = length_bytes(f);

    f->left = n > 0 ? 0 : f->head[1] & LENGTH;
    for (i = 0; i < n; i++)
        f->left = f->left << 8 | f->head[2 + i];
    f->said |= (f->head[0] & OPCODE) == CLOSE;
    f->n = 0;
}

void apppool_farewell_see(apppool_farewell_t *f, const char *bytes,
                          apr_size_t n)
{
    while (n > 0) {
        if (f->left > 0) {
            apr_size_t skip = f->left < n ? (apr_size_t)f->left : n;

            f->left -= skip;
            bytes += skip;
            n -= skip;
            continue;
        }
        f->head[f->n++] = (unsigned char)*bytes++;
        n--;
        if (f->n == head_bytes(f) && f->n >= 2)
            begin_payload(f);
    }
}

int apppool_farewell_say(apppool_farewell_t *f, apr_bucket_brigade *bb)
{
    static const char frame[] = {(char)(FINAL | CLOSE), 2, 1001 >> 8,
                                 (char)(1001 & 0xff)};

    if (f->said || f->n > 0 || f->left > 0)
        return 0;
    f->said = 1;
    APR_BRIGADE_INSERT_HEAD(
        bb, apr_bucket_immortal_create(frame, sizeof frame, bb->bucket_alloc));
    return 1;
}
