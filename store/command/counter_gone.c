/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/command/counter_gone.h"

#include <string.h>

#define RESPONSE 0x91
#define UNKNOWN  0x81 /* status: unknown command */
#define HEAD     12   /* bytes */

static const char words[] = "this store has no counters: use lock, or incr";

size_t store_counter_gone_input(store_session_t *session, const char *bytes,
                                size_t n, store_reply_t *reply)
{
    unsigned char head[HEAD] = {0};

    if (n < HEAD)
        return 0;
    memcpy(head, bytes, HEAD);
    head[0] = RESPONSE;
    head[2] = UNKNOWN;
    head[3] = head[4] = head[5] = head[6] = 0;
    head[7] = sizeof words - 1;
    store_reply_copy(reply, head, HEAD);
    store_reply_copy(reply, words, sizeof words - 1);
    session->over = true;
    return n;
}
