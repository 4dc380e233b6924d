/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/command/stat_general.h"

#include <stddef.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "store/command/stat_counters.h"
#include "store/memory/region.h"

static void process_lines(const store_stat_out_t *out)
{
    uint64_t now = (uint64_t)time(NULL);
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    store_stat_line_number(out, "pid", (uint64_t)getpid());
    store_stat_line_number(out, "uptime",
                           now - STORE_GET(store_region_figures()->began));
    store_stat_line_number(out, "time", now);
    store_stat_line(out, "version", "%s", STORE_SENT_VERSION);
    store_stat_line_number(out, "pointer_size", 8 * sizeof(void *));
    store_stat_line(out, "rusage_user", "%ld.%06ld",
                    (long)usage.ru_utime.tv_sec, (long)usage.ru_utime.tv_usec);
    store_stat_line(out, "rusage_system", "%ld.%06ld",
                    (long)usage.ru_stime.tv_sec, (long)usage.ru_stime.tv_usec);
    store_stat_line_number(out, "threads", out->session->server->threads);
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

static void counter_lines(const store_stat_out_t *out)
{
    store_counters_t c;

    store_stat_counters_sum(out->session->caller.space, &c);
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++)
        store_stat_line_number(out, counted[i].name, c.n[counted[i].what]);
    store_stat_line_number(out, "get_misses",
                           c.n[STORE_GETS] - c.n[STORE_HITS]);
    store_stat_line_number(out, "cmd_touch",
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

static void space_lines(const store_stat_out_t *out)
{
    const store_space_t *space = out->session->caller.space;

    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        const uint64_t *figure =
            (const uint64_t *)(const void *)((const char *)space->figures +
                                             figures[i].offset);

        store_stat_line_number(out, figures[i].name, STORE_GET(*figure));
    }
    store_stat_line(out, "space", "%s", space->name);
}

void store_stat_general(const store_stat_out_t *out)
{
    process_lines(out);
    counter_lines(out);
    space_lines(out);
    store_stat_line(out, "accepting_conns", "1");
}

void store_stat_general_settings(const store_stat_out_t *out)
{
    const store_session_t *session = out->session;
    store_space_t *space = session->caller.space;

    store_stat_line_number(out, "maxbytes", STORE_GET(space->figures->size));
    store_stat_line_number(out, "maxconns", session->server->max_connections);
    store_stat_line(out, "verbosity", "0");
    store_stat_line(out, "evictions", "%s",
                    STORE_GET(space->evict) ? "on" : "off");
    store_stat_line(out, "growth_factor", "1.125");
    store_stat_line_number(out, "num_threads", session->server->threads);
    store_stat_line(out, "cas_enabled", "yes");
    store_stat_line(out, "binding_protocol", "auto-negotiate");
    store_stat_line(out, "auth_enabled_sasl", "no");
    store_stat_line_number(out, "item_size_max", session->server->max_object);
    store_stat_line(out, "flush_enabled", "yes");
    store_stat_line(out, "dump_enabled", "yes");
    store_stat_line(out, "shutdown_command", "no");
    store_stat_line(out, "slab_reassign", "no");
    store_stat_line(out, "lru_crawler", "no");
    store_stat_line(out, "hash_algorithm", "siphash24");
}
