/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/state/fd_limit.h"

#include "spawner/common/log.h"

#define OWN 64 /* our own, control clients, errands, processes that start */
#define EACH                                                                   \
    4 /* pidfd, FIFO, $NOTIFY_SOCKET; a connection or a file at times */

/* With a control socket for each user of apps (user_sockets.h). */
static rlim_t own(const spawner_t *s)
{
    return OWN + (rlim_t)s->table->n;
}

static rlim_t needed(const spawner_t *s)
{
    return own(s) + s->table->capacity.children +
           (rlim_t)EACH * s->table->max_pool_size;
}

void fd_limit_raise(spawner_t *s)
{
    rlim_t need = needed(s);
    struct rlimit most;

    if (s->descriptors.rlim_cur == 0)
        getrlimit(RLIMIT_NOFILE, &s->descriptors);
    getrlimit(RLIMIT_NOFILE, &most);
    if (most.rlim_max < need) {
        struct rlimit more = {need, need};

        if (setrlimit(RLIMIT_NOFILE, &more) == 0)
            return;
    }
    most.rlim_cur = most.rlim_max;
    setrlimit(RLIMIT_NOFILE, &most);
    if (most.rlim_max >= need)
        return;
    log_line(LOG_WARN,
             "MaxPoolSize %u: the spawner needs %llu descriptors (%d for each "
             "process, %u for httpd's children, %llu of its own), and its hard "
             "limit is %llu: raise that of httpd (ulimit -Hn; LimitNOFILE= of "
             "systemd), or lower MaxPoolSize",
             s->table->max_pool_size, (unsigned long long)need, EACH,
             s->table->capacity.children, (unsigned long long)own(s),
             (unsigned long long)most.rlim_max);
}
