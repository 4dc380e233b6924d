/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The app table: any text is accepted as a whole, or refused with a sentence.
 * An accepted table has everything that the rest of the spawner relies on. */

#include "spawner/process/app_table.h"

#include <apr_general.h>
#include <stdlib.h>
#include <string.h>

#include "shm/format/format.h"
#include "base/json_reader.h"
#include "tests/fuzz/fuzz.h"

static void must(int truth)
{
    if (!truth)
        abort();
}

static void is_line(const char *s)
{
    for (; s && *s; s++)
        must((unsigned char)*s >= 0x20 && *s != 0x7f);
}

static void is_good(const app_table_t *t, const app_entry_t *a)
{
    size_t i;

    must(a->app.name[0] != 0 && strlen(a->app.name) < APL_NAME_MAX);
    must(app_table_find(t, a->app.name) == a);
    must(a->app.root[0] == '/' && a->label != NULL);
    must(a->listen <= APL_LISTEN_TCP && a->protocol <= APL_AUTO);
    must(a->start_timeout >= 0 && a->stop_timeout >= 0 && a->slow_after >= 0);
    must(a->dump_signal >= 0 && a->dump_signal <= 64);
    is_line(a->app.name);
    is_line(a->app.root);
    is_line(a->command);
    is_line(a->notify);
    is_line(a->user);
    is_line(a->group);
    for (i = 0; a->env[i]; i++)
        must(strchr(a->env[i], '=') > a->env[i] &&
             strncmp(a->env[i], "APPPOOL_ID=", 11) != 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static apr_pool_t *p;
    char error[JSON_READER_ERROR_MAX] = "";
    const app_table_t *t;
    uint32_t i;

    if (!p) {
        apr_initialize();
        apr_pool_create(&p, NULL);
    }
    t = app_table_parse((const char *)data, size, p, error);
    must(t || error[0]);
    must(strlen(error) < sizeof error);
    for (i = 0; t && i < t->n; i++)
        is_good(t, &t->apps[i]);
    apr_pool_clear(p);
    return 0;
}
