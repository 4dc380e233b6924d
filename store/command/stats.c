/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/command/stats.h"

#include <stdio.h>

#include "store/command/answer.h"
#include "store/command/stat_counters.h"
#include "store/command/stat_general.h"
#include "store/command/stat_line.h"
#include "store/memory/chunk.h"

/* The figures of one class, copied under the lock. */
static store_class_stat_t class_stat(store_space_t *space, unsigned i)
{
    store_class_stat_t stat;

    store_chunk_lock(space);
    stat = *store_chunk_stat(space, i);
    store_chunk_unlock(space);
    return stat;
}

/* A line of a class, with memcached's number: they begin with 1. */
static void class_line(const store_stat_out_t *out, const char *format,
                       unsigned i, const char *what, uint64_t n)
{
    char name[64];

    snprintf(name, sizeof name, format, i + 1, what);
    store_stat_line_number(out, name, n);
}

static void items(const store_stat_out_t *out)
{
    static const char name[] = "items:%u:%s";

    for (unsigned i = 0; i < STORE_CLASSES; i++) {
        store_class_stat_t stat = class_stat(out->session->caller.space, i);

        if (stat.used == 0)
            continue;
        class_line(out, name, i, "number", stat.used);
        class_line(out, name, i, "mem_requested",
                   stat.used * store_class_size[i]);
        class_line(out, name, i, "evicted", stat.evictions);
        class_line(out, name, i, "evicted_time", stat.evicted_age);
    }
}

static void slabs(const store_stat_out_t *out)
{
    static const char name[] = "%u:%s";
    uint64_t active = 0, pages = 0;

    for (unsigned i = 0; i < STORE_CLASSES; i++) {
        store_class_stat_t stat = class_stat(out->session->caller.space, i);
        uint64_t chunks = (uint64_t)stat.pages * store_class_chunks(i);

        if (stat.pages == 0)
            continue;
        class_line(out, name, i, "chunk_size", store_class_size[i]);
        class_line(out, name, i, "chunks_per_page", store_class_chunks(i));
        class_line(out, name, i, "total_pages", stat.pages);
        class_line(out, name, i, "total_chunks", chunks);
        class_line(out, name, i, "used_chunks", stat.used);
        class_line(out, name, i, "free_chunks", chunks - stat.used);
        active++;
        pages += stat.pages;
    }
    store_stat_line_number(out, "active_slabs", active);
    store_stat_line_number(out, "total_malloced", pages * STORE_PAGE);
}

static void sizes(const store_stat_out_t *out)
{
    store_stat_line(out, "sizes_status", "disabled");
}

static const struct {
    const char *name;
    void (*lines)(const store_stat_out_t *);
} lists[] = {
    {"", store_stat_general}, {"settings", store_stat_general_settings},
    {"items", items},         {"slabs", slabs},
    {"sizes", sizes},
};

static bool list(const store_stat_out_t *out, store_token_t name)
{
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (store_token_is(name, lists[i].name)) {
            lists[i].lines(out);
            store_stat_line_end(out);
            return true;
        }
    return false;
}

/* Statistics of the beginnings of keys: there are none. */
static const char *detail(const store_tokens_t *tokens)
{
    if (tokens->n >= 3 && (store_token_is(tokens->word[2], "on") ||
                           store_token_is(tokens->word[2], "off")))
        return "OK";
    if (tokens->n >= 3 && store_token_is(tokens->word[2], "dump"))
        return "END";
    return "CLIENT_ERROR usage: stats detail on|off|dump";
}

void store_stats_text(store_session_t *session, const store_tokens_t *tokens,
                      store_reply_t *reply)
{
    store_stat_out_t out = {session, reply};
    store_token_t name = tokens->word[1]; /* n = 0: there is none */

    if (store_token_is(name, "reset")) {
        store_stat_counters_reset(session->caller.space);
        store_answer(session, reply, "RESET");
    }
    else if (store_token_is(name, "cachedump")) {
        store_answer(session, reply,
                     "CLIENT_ERROR stats cachedump not allowed");
    }
    else if (store_token_is(name, "detail")) {
        store_answer(session, reply, detail(tokens));
    }
    else if (!list(&out, name)) {
        store_answer(session, reply, "ERROR");
    }
}

bool store_stats_binary(store_session_t *session, store_token_t name,
                        store_reply_t *reply)
{
    store_stat_out_t out = {session, reply};

    /* memcached counts by the beginnings of keys if it is told to. Ours does
     * not, and says nothing, as with `stats detail on`. */
    if (store_token_is(name, "detail on") ||
        store_token_is(name, "detail off")) {
        store_stat_line_end(&out);
        return true;
    }
    if (store_token_is(name, "detail dump")) {
        store_stat_line(&out, "detailed", "END\r\n");
        store_stat_line_end(&out);
        return true;
    }
    if (!store_token_is(name, "reset"))
        return list(&out, name);
    store_stat_counters_reset(session->caller.space);
    store_stat_line_end(&out);
    return true;
}
