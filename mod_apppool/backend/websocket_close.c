/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/backend/websocket_close.h"

#define OPCODE 0x0f
#define CLOSE  0x08
#define FINAL  0x80 /* in the first byte */
#define MASKED 0x80 /* in the second */
#define LENGTH 0x7f
#define SHORT  126 /* two bytes of length follow */
#define LONG   127 /* eight */

static unsigned length_bytes(const apppool_websocket_close_t *w)
{
    unsigned is = w->head[1] & LENGTH;

    return is == SHORT ? 2 : is == LONG ? 8 : 0;
}

static unsigned head_bytes(const apppool_websocket_close_t *w)
{
    if (w->n < 2)
        return 2;
    return 2 + length_bytes(w) + (w->head[1] & MASKED ? 4 : 0);
}

/* The head is whole: what does it say? */
static void begin_payload(apppool_websocket_close_t *w)
{
    unsigned i, n = length_bytes(w);

    w->left = n > 0 ? 0 : w->head[1] & LENGTH;
    for (i = 0; i < n; i++)
        w->left = w->left << 8 | w->head[2 + i];
    w->closed |= (w->head[0] & OPCODE) == CLOSE;
    w->n = 0;
}

void apppool_websocket_close_follow(apppool_websocket_close_t *w,
                                    const char *bytes, apr_size_t n)
{
    while (n > 0) {
        if (w->left > 0) {
            apr_size_t skip = w->left < n ? (apr_size_t)w->left : n;

            w->left -= skip;
            bytes += skip;
            n -= skip;
            continue;
        }
        w->head[w->n++] = (unsigned char)*bytes++;
        n--;
        if (w->n == head_bytes(w) && w->n >= 2)
            begin_payload(w);
    }
}

int apppool_websocket_close_insert(apppool_websocket_close_t *w,
                                   apr_bucket_brigade *bb)
{
    static const char frame[] = {(char)(FINAL | CLOSE), 2, 1001 >> 8,
                                 (char)(1001 & 0xff)};

    if (w->closed || w->n > 0 || w->left > 0)
        return 0;
    w->closed = 1;
    APR_BRIGADE_INSERT_HEAD(
        bb, apr_bucket_immortal_create(frame, sizeof frame, bb->bucket_alloc));
    return 1;
}
