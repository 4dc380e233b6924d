/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/backend/bare_packet.h"

#include <string.h>

/* For the access log (doc/logs.md). */
static const char *const notes[] = {"APPPOOL_PID", "APPPOOL_QUEUE_MS",
                                    "APPPOOL_APP_MS"};

int apppool_bare_packet_has(const char *name)
{
    size_t i;

    for (i = 0; i < sizeof notes / sizeof *notes; i++)
        if (!strcmp(name, notes[i]))
            return 0;
    return 1;
}

const char *apppool_bare_packet_value(const apr_table_entry_t *pair)
{
    return pair->val ? pair->val : "";
}

apr_size_t apppool_bare_packet_size(const apr_table_entry_t *pair,
                                    apr_size_t extra)
{
    return strlen(pair->key) + strlen(apppool_bare_packet_value(pair)) + extra;
}
