/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/upkeep/configure.h"

#include <stdio.h>

#include "spawner/output/output.h"

void configure_process(spawner_t *s, process_t *p)
{
    const app_entry_t *a =
        s->table ? app_table_find(s->table, p->is.name) : NULL;

    if (!a)
        return;
    p->slot.outdated = 0;
    p->app.stop_timeout = a->stop_timeout;
    p->app.hung_stop_timeout = a->hung_stop_timeout;
    p->app.drain_timeout = a->drain_timeout;
    p->app.stop_signal = a->stop_signal;
    snprintf(p->label, sizeof p->label, "%s", a->label);
    output_to(p, a->log, a->log_raw);
}
