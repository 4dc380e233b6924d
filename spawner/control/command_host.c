/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/control/command_host.h"

#include "shm/verbs/health.h"
#include "system/log.h"

static json_t *set_out(command_t *q, int out, const char *logged,
                       const char *text)
{
    if (apl_health_set_out(&q->s->shm, out))
        log_line(LOG_NOTICE, "%s (apppoolctl)", logged);
    return json_pack("{s:b, s:b, s:s}", "ok", 1, "out", out, "text", text);
}

json_t *command_host_out(command_t *q)
{
    return set_out(q, 1,
                   "this host is out: apppool-health responds with 503 to load "
                   "balancers",
                   "this host is out: apppool-health responds with 503 to load "
                   "balancers, and all requests that come are served; "
                   "apppoolctl in takes it back in");
}

json_t *command_host_in(command_t *q)
{
    return set_out(q, 0, "this host is in again", "this host is in");
}
