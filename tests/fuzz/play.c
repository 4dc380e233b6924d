/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "tests/fuzz/play.h"

#include <apr_general.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shm/recovery/recovery.h"
#include "shm/verbs/enter.h"
#include "shm/slots/group.h"
#include "shm/view/view.h"
#include "shm/view/snapshot.h"
#include "shm/format/segment.h"

#define STEPS 300

static int loud;

/* Small, so that a few bytes fill it. */
static const apl_capacity_t capacity = {3, 6, 9, 2};

void play_say(const char *format, ...)
{
    va_list args;

    if (!loud)
        return;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
}

/* ---- the pool ---- */

static void make_apps(play_t *p)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    int i;

    for (i = 0; i < PLAY_APPS; i++) {
        p->apps[i].name = names[i];
        p->apps[i].root = "/srv";
        p->apps[i].key = apl_group_key(names[i]);
        p->apps[i].options = (apl_options_t){.config = 1,
                                             .concurrency = 1,
                                             .global_queue = 1,
                                             .max_queue = 5,
                                             .idle_time = 5000000};
    }
}

play_t *play_begin(void)
{
    static play_t fresh, p;
    static char *memory, *image;
    size_t size = apl_segment_size(&capacity);

    if (!image) {
        apr_initialize();
        loud = getenv("TRACE") != NULL;
        memory = aligned_alloc(64, (size + 63) / 64 * 64);
        image = malloc(size);
        memset(memory, 0, size);
        apl_segment_format(&fresh.pool, memory, &capacity);
        fresh.now = 1000000000;
        make_apps(&fresh);
        apl_child_register(&fresh.pool, 1);
        apl_child_register(&fresh.pool, 1);
        apl_configure_limits(&fresh.pool, 4, 1, fresh.now);
        memcpy(image, memory, size);
    }
    memcpy(memory, image, size);
    p = fresh;
    return &p;
}

static void must_hold(play_t *p)
{
    apl_finding_t finding;

    if (apl_check(&p->pool, &finding))
        return;
    fprintf(stderr, "I%d: %s\n", finding.number, finding.text);
    abort();
}

void play_repair(play_t *p)
{
    apl_lock_token_t token;

    p->pool.damaged = 1;
    p->pool.header->lock = 0;
    if (apl_enter(&token, &p->pool, p->now, APL_FOREVER) != APR_SUCCESS)
        abort();
    apl_leave(&token);
    must_hold(p);
    p->hostile = 0;
}

void play_look(play_t *p)
{
    static apr_pool_t *memory;
    apl_pool_t *copy;
    apl_finding_t finding;

    if (!memory)
        apr_pool_create(&memory, NULL);
    if (apl_snapshot_take(&copy, &p->pool, memory) == APR_SUCCESS) {
        json_t *o = apl_report_json(copy, 1);
        char *text = o ? json_dumps(o, 0) : NULL;

        if (!text)
            abort();
        free(text);
        json_decref(o);
        json_decref(apl_report_app_history(copy, "a"));
        apl_check(copy, &finding);
    }
    apr_pool_clear(memory);
}

/* ---- wrong values ---- */

/* A value that could be there, or nearly. */
static uint32_t value(play_t *p, dice_t *d, const uint32_t *word)
{
    static const uint32_t edges[] = {
        0, 1, 2, 3, 4, 6, 7, 9, 10, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff};
    uint32_t n = dice(d, 32);

    if (n < sizeof edges / sizeof *edges)
        return edges[n];
    if (n < 16)
        return *word + n % 2 * 2 - 1; /* one more or less */
    if (n < 24)                       /* a value from another place */
        return ((uint32_t *)(void *)p->pool.base)[dice(d, p->pool.size / 4)];
    if (n < 30) /* an offset */
        return dice(d, p->pool.size) / 4 * 4;
    return dice(d, 0x1000000) << 8 | dice(d, 256);
}

static void write_somewhere(play_t *p, dice_t *d)
{
    const apl_pool_t *pool = &p->pool;
    const struct {
        const char *name;
        void *table;
        uint32_t size, n, words;
    } tables[] = {
        {"group", pool->groups, sizeof *pool->groups, capacity.groups,
         offsetof(apl_group_t, padding) / 4},
        {"process", pool->processes, sizeof *pool->processes,
         capacity.processes, offsetof(apl_process_t, padding) / 4},
        {"session", pool->sessions, sizeof *pool->sessions, capacity.sessions,
         offsetof(apl_session_t, method) / 4},
        {"child", pool->children, sizeof *pool->children, capacity.children,
         offsetof(apl_child_t, padding) / 4},
        {"header", pool->header, 0, 1, 128},
        {"header", pool->header, 0, 1, sizeof *pool->header / 4},
    };
    uint32_t i = dice(d, 6);
    uint32_t slot = 1 + dice(d, tables[i].n), at = dice(d, tables[i].words);
    uint32_t *word =
        (uint32_t *)tables[i].table + (size_t)slot * tables[i].size / 4 + at;

    if (word != &pool->header->lock)
        *word = value(p, d, word);
    play_say("%s %u at %u: %x", tables[i].name, slot, at * 4, *word);
    p->hostile = 1;
}

/* ---- the play ---- */

static void tell(const play_t *p)
{
    const apl_header_t *h = p->pool.header;

    play_say(": %u live, %u busy, %u start, %u wait, %u leave%s\n", h->count,
             h->active, h->spawning, h->waiting, h->leaving,
             p->hostile ? ", hostile" : "");
}

void play(play_t *p, dice_t *d, int hostile)
{
    int i;

    for (i = 0; i < STEPS && d->at < d->end; i++) {
        if (hostile && dice(d, 5) == 4)
            write_somewhere(p, d);
        else
            verbs_do(p, d);
        tell(p);
        if (!p->hostile)
            must_hold(p);
    }
}
