/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/cluster/limit.h"

#include <sys/socket.h>
#include <unistd.h>

#include "base/clock_ms.h"
#include "store/note.h"

int store_limit_refuses(const store_space_t *space, uint64_t n, int fd,
                        int64_t *noted_at)
{
    static const char refusal[] = "SERVER_ERROR too many open connections\r\n";
    uint64_t most = STORE_GET(space->figures->max_connections);

    if (n < most)
        return 0;
    if (send(fd, refusal, sizeof refusal - 1, MSG_DONTWAIT | MSG_NOSIGNAL) <
        0) {
        /* The client sees only the end of the connection. */
    }
    close(fd);
    if (store_note_is_due(noted_at, clock_ms()))
        store_note(STORE_WARN,
                   "space %s: a connection is refused, because there are %llu "
                   "already (AppStoreMaxConnections)",
                   space->name, (unsigned long long)most);
    return 1;
}
