/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/cluster/limit.h"

#include "base/clock_ms.h"
#include "store/note.h"

int store_limit_refuses(const store_space_t *space, uint64_t n,
                        store_stream_t *stream, int64_t *noted_at)
{
    static const char refusal[] = "SERVER_ERROR too many open connections\r\n";
    uint64_t most = STORE_GET(space->figures->max_connections);

    if (n < most)
        return 0;
    if (store_stream_write(stream, refusal, sizeof refusal - 1) < 0) {
        /* The client sees only the end of the connection. */
    }
    store_stream_close(stream);
    if (store_note_is_due(noted_at, clock_ms()))
        store_note(STORE_WARN,
                   "space %s: a connection is refused, because there are %llu "
                   "already (AppStoreMaxConnections)",
                   space->name, (unsigned long long)most);
    return 1;
}
