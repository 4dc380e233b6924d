/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/protocol/protocols.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "store/memory/chunk.h"
#include "store/memory/region.h"
#include "store/protocol/dialogue_state.h"

/* ---- counters ----
 *
 * A counter belongs to its worker, and the status page needs counters that only
 * grow. So `stats reset` remembers what they were, for this command only. */

static store_counters_t remembered[STORE_SPACES];

static uint64_t sum(const store_space_t *space, unsigned what)
{
    store_figures_t *figures = store_region_figures();
    uint64_t n = 0;
    unsigned i;

    for (i = 0; i < STORE_THREADS; i++)
        n += STORE_GET(figures->worker[i][space->slot].n[what]);
    return n;
}

void store_stats_sum(const store_space_t *space, store_counters_t *counters)
{
    unsigned i;

    for (i = 0; i < STORE_COUNTERS; i++)
        counters->n[i] =
            sum(space, i) - STORE_GET(remembered[space->slot].n[i]);
}

void store_stats_reset(const store_space_t *space)
{
    unsigned i;

    for (i = 0; i < STORE_COUNTERS; i++)
        STORE_SET(remembered[space->slot].n[i], sum(space, i));
}

void store_stats_forget(const store_space_t *space)
{
    store_figures_t *figures = store_region_figures();
    unsigned i, what;

    for (i = 0; i < STORE_THREADS; i++)
        for (what = 0; what < STORE_COUNTERS; what++)
            STORE_SET(figures->worker[i][space->slot].n[what], 0);
    remembered[space->slot] = (store_counters_t){0};
}

/* ---- a line: a name with its value, in text or as a packet ---- */

/* Where the lines go. */
typedef struct {
    const store_dialogue_t *dialogue;
    store_reply_t *reply;
} out_t;

static void packet(const out_t *out, const char *name, const char *value)
{
    uint16_t klen = (uint16_t)strlen(name);
    uint32_t length = (uint32_t)strlen(value);

    store_packet_head(out->dialogue, out->reply, STORE_STATUS_OK, 0, klen,
                      klen + length, 0);
    store_reply_copy(out->reply, name, klen);
    store_reply_copy(out->reply, value, length);
}

/* At most 200 bytes of value. */
static void put_line(const out_t *out, const char *name, const char *format,
                     ...) __attribute__((format(printf, 3, 4)));

static void put_line(const out_t *out, const char *name, const char *format,
                     ...)
{
    char value[201];
    va_list list;

    va_start(list, format);
    vsnprintf(value, sizeof value, format, list);
    va_end(list);
    if (out->dialogue->protocol == STORE_PROTOCOL_BINARY)
        packet(out, name, value);
    else
        store_reply_format(out->reply, "STAT %s %s\r\n", name, value);
}

static void put_number(const out_t *out, const char *name, uint64_t n)
{
    put_line(out, name, "%" PRIu64, n);
}

static void put_end(const out_t *out)
{
    if (out->dialogue->protocol == STORE_PROTOCOL_BINARY)
        packet(out, "", "");
    else
        store_reply_copy(out->reply, "END\r\n", 5);
}

/* ---- the general ones, and the settings ---- */

static void process_lines(const out_t *out)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    put_number(out, "pid", (uint64_t)getpid());
    put_number(out, "uptime", store_region_uptime());
    put_number(out, "time", (uint64_t)time(NULL));
    put_line(out, "version", "%s", STORE_SENT_VERSION);
    put_number(out, "pointer_size", 8 * sizeof(void *));
    put_line(out, "rusage_user", "%ld.%06ld", (long)usage.ru_utime.tv_sec,
             (long)usage.ru_utime.tv_usec);
    put_line(out, "rusage_system", "%ld.%06ld", (long)usage.ru_stime.tv_sec,
             (long)usage.ru_stime.tv_usec);
    put_number(out, "threads", out->dialogue->server->threads);
}

/* memcached's names of our counters. */
static const struct {
    const char *name;
    unsigned what;
} counted[] = {
    {"total_connections", STORE_CONNECTIONS_TOTAL},
    {"rejected_connections", STORE_CONNECTIONS_REFUSED},
    {"cmd_get", STORE_GETS},
    {"cmd_set", STORE_SETS},
    {"cmd_flush", STORE_FLUSHES},
    {"cmd_meta", STORE_META_COMMANDS},
    {"get_hits", STORE_HITS},
    {"get_expired", STORE_GETS_EXPIRED},
    {"get_flushed", STORE_GETS_FLUSHED},
    {"delete_misses", STORE_DELETE_MISSES},
    {"delete_hits", STORE_DELETE_HITS},
    {"incr_misses", STORE_INCR_MISSES},
    {"incr_hits", STORE_INCR_HITS},
    {"decr_misses", STORE_DECR_MISSES},
    {"decr_hits", STORE_DECR_HITS},
    {"cas_misses", STORE_CAS_MISSES},
    {"cas_hits", STORE_CAS_HITS},
    {"cas_badval", STORE_CAS_BADVAL},
    {"touch_hits", STORE_TOUCH_HITS},
    {"touch_misses", STORE_TOUCH_MISSES},
    {"store_too_large", STORE_TOO_LARGE_COUNT},
    {"store_no_memory", STORE_NO_MEMORY_COUNT},
    {"bytes_read", STORE_BYTES_READ},
    {"bytes_written", STORE_BYTES_WRITTEN},
};

static void counter_lines(const out_t *out)
{
    store_counters_t c;
    size_t i;

    store_stats_sum(out->dialogue->caller.space, &c);
    for (i = 0; i < sizeof counted / sizeof *counted; i++)
        put_number(out, counted[i].name, c.n[counted[i].what]);
    put_number(out, "get_misses", c.n[STORE_GETS] - c.n[STORE_HITS]);
    put_number(out, "cmd_touch",
               c.n[STORE_TOUCH_HITS] + c.n[STORE_TOUCH_MISSES]);
}

/* The figures of the space: first memcached's names, then ours. */
#define FIGURE(name, field)                                                    \
    {                                                                          \
        name, offsetof(store_space_figures_t, field)                           \
    }
static const struct {
    const char *name;
    size_t offset;
} figures[] = {
    FIGURE("curr_connections", connections),
    FIGURE("max_connections", max_connections),
    FIGURE("limit_maxbytes", size),
    FIGURE("bytes", item_bytes),
    FIGURE("curr_items", items),
    FIGURE("total_items", items_total),
    FIGURE("evictions", evictions),
    FIGURE("reclaimed", reclaimed),
    FIGURE("slabs_moved", page_moves),
    FIGURE("crawler_reclaimed", expired),
    FIGURE("used_bytes", used),
    FIGURE("evicted_age", evicted_age),
    FIGURE("recovered_items", recovered),
    FIGURE("dropped_items", dropped),
    FIGURE("locked_items", locks),
};

static void space_lines(const out_t *out)
{
    const store_space_t *space = out->dialogue->caller.space;
    size_t i;

    for (i = 0; i < sizeof figures / sizeof *figures; i++) {
        const uint64_t *figure =
            (const uint64_t *)(const void *)((const char *)space->figures +
                                             figures[i].offset);

        put_number(out, figures[i].name, STORE_GET(*figure));
    }
    put_line(out, "space", "%s", space->name);
}

static void general(const out_t *out)
{
    process_lines(out);
    counter_lines(out);
    space_lines(out);
    put_line(out, "accepting_conns", "1");
}

static void settings(const out_t *out)
{
    const store_dialogue_t *dialogue = out->dialogue;
    store_space_t *space = dialogue->caller.space;

    put_number(out, "maxbytes", STORE_GET(space->figures->size));
    put_number(out, "maxconns", dialogue->server->max_connections);
    put_line(out, "verbosity", "0");
    put_line(out, "evictions", "%s", STORE_GET(space->evict) ? "on" : "off");
    put_line(out, "growth_factor", "1.125");
    put_number(out, "num_threads", dialogue->server->threads);
    put_line(out, "cas_enabled", "yes");
    put_line(out, "binding_protocol", "auto-negotiate");
    put_line(out, "auth_enabled_sasl", "no");
    put_number(out, "item_size_max", dialogue->server->max_object);
    put_line(out, "flush_enabled", "yes");
    put_line(out, "dump_enabled", "yes");
    put_line(out, "shutdown_command", "no");
    put_line(out, "slab_reassign", "no");
    put_line(out, "lru_crawler", "no");
    put_line(out, "hash_algorithm", "siphash24");
}

/* ---- by class ---- */

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
static void class_line(const out_t *out, const char *format, unsigned i,
                       const char *what, uint64_t n)
{
    char name[64];

    snprintf(name, sizeof name, format, i + 1, what);
    put_number(out, name, n);
}

static void items(const out_t *out)
{
    static const char name[] = "items:%u:%s";
    unsigned i;

    for (i = 0; i < STORE_CLASSES; i++) {
        store_class_stat_t stat = class_stat(out->dialogue->caller.space, i);

        if (stat.used == 0)
            continue;
        class_line(out, name, i, "number", stat.used);
        class_line(out, name, i, "mem_requested",
                   stat.used * store_class_size[i]);
        class_line(out, name, i, "evicted", stat.evictions);
        class_line(out, name, i, "evicted_time", stat.evicted_age);
    }
}

static void slabs(const out_t *out)
{
    static const char name[] = "%u:%s";
    uint64_t active = 0, pages = 0;
    unsigned i;

    for (i = 0; i < STORE_CLASSES; i++) {
        store_class_stat_t stat = class_stat(out->dialogue->caller.space, i);
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
    put_number(out, "active_slabs", active);
    put_number(out, "total_malloced", pages * STORE_PAGE);
}

static void sizes(const out_t *out)
{
    put_line(out, "sizes_status", "disabled");
}

static const struct {
    const char *name;
    void (*lines)(const out_t *);
} lists[] = {
    {"", general},    {"settings", settings}, {"items", items},
    {"slabs", slabs}, {"sizes", sizes},
};

static int list(const out_t *out, store_token_t name)
{
    size_t i;

    for (i = 0; i < sizeof lists / sizeof *lists; i++)
        if (store_token_is(name, lists[i].name)) {
            lists[i].lines(out);
            put_end(out);
            return 1;
        }
    return 0;
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

void store_stats_text(store_dialogue_t *dialogue, const store_tokens_t *tokens,
                      store_reply_t *reply)
{
    out_t out = {dialogue, reply};
    store_token_t name = tokens->word[1]; /* n = 0: there is none */

    if (store_token_is(name, "reset")) {
        store_stats_reset(dialogue->caller.space);
        store_answer(dialogue, reply, "RESET");
    }
    else if (store_token_is(name, "cachedump"))
        store_answer(dialogue, reply,
                     "CLIENT_ERROR stats cachedump not allowed");
    else if (store_token_is(name, "detail"))
        store_answer(dialogue, reply, detail(tokens));
    else if (!list(&out, name))
        store_answer(dialogue, reply, "ERROR");
}

int store_stats_binary(store_dialogue_t *dialogue, store_token_t name,
                       store_reply_t *reply)
{
    out_t out = {dialogue, reply};

    /* memcached counts by the beginnings of keys if it is told to. Ours does
     * not, and says nothing, as with `stats detail on`. */
    if (store_token_is(name, "detail on") ||
        store_token_is(name, "detail off")) {
        put_end(&out);
        return 1;
    }
    if (store_token_is(name, "detail dump")) {
        put_line(&out, "detailed", "END\r\n");
        put_end(&out);
        return 1;
    }
    if (!store_token_is(name, "reset"))
        return list(&out, name);
    store_stats_reset(dialogue->caller.space);
    put_end(&out);
    return 1;
}
