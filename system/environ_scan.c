/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "system/environ_scan.h"

#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/heartbeat.h"
#include "system/child_reset.h"
#include "system/reap.h"
#include "base/clock_ms.h"

#define WORKERS  32   /* maximum number of processes that block one */
#define STALLED  100  /* ms without a mark: start one more worker */
#define PATIENCE 1000 /* ms without a mark: give up */
#define LIMIT    3000 /* ms for the whole scan */
#define TURN     50   /* ms: a turn of the loop counts as at most that */

typedef struct {
    procfs_t info;
    int known;
    char mark[64];
} entry_t;

/* Memory that is shared with the workers. */
typedef struct {
    size_t n, known;
    size_t next; /* index of the next process to read */
    entry_t entries[];
} list_t;

/* ---- the list ---- */

/* The processes that are wanted, as one pass over /proc has found them. */
typedef struct {
    int (*wanted)(const procfs_t *info, void *ctx);
    void *ctx;
    procfs_t *of;
    size_t n, room;
    int failed; /* no memory */
} found_t;

static void add(const procfs_t *info, void *ctx)
{
    found_t *f = ctx;

    if (!f->wanted(info, f->ctx) || f->failed)
        return;
    if (f->n == f->room) {
        size_t room = 2 * f->room + 64;
        procfs_t *more = realloc(f->of, room * sizeof *more);

        f->failed = !more;
        if (!more)
            return;
        f->of = more;
        f->room = room;
    }
    f->of[f->n++] = *info;
}

static size_t size_of(size_t n)
{
    return sizeof(list_t) + n * sizeof(entry_t);
}

static list_t *make_list(int (*wanted)(const procfs_t *info, void *ctx),
                         void *ctx)
{
    found_t f = {wanted, ctx, NULL, 0, 0, 0};
    list_t *l;
    size_t i;

    procfs_each(add, &f);
    l = f.failed ? MAP_FAILED
                 : mmap(NULL, size_of(f.n), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (l != MAP_FAILED) {
        l->n = f.n;
        for (i = 0; i < f.n; i++)
            l->entries[i].info = f.of[i];
    }
    free(f.of);
    return l == MAP_FAILED ? NULL : l;
}

/* ---- the workers ---- */

static _Noreturn void work(list_t *l)
{
    size_t i;

    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    child_reset_signals();
    alarm(LIMIT / 1000 + 1);
    while ((i = __atomic_fetch_add(&l->next, 1, __ATOMIC_RELAXED)) < l->n) {
        entry_t *e = &l->entries[i];

        if (procfs_mark(e->info.pid, e->mark, sizeof e->mark) != 0)
            e->mark[0] = 0;
        __atomic_store_n(&e->known, 1, __ATOMIC_RELEASE);
        __atomic_fetch_add(&l->known, 1, __ATOMIC_RELEASE);
    }
    _exit(0);
}

static void read_all(list_t *l)
{
    int64_t clock = clock_ms(), now = 0, last = 0, more = 0;
    pid_t workers[WORKERS];
    size_t known = 0, is;
    int n = 0;

    while (known < l->n && now - last < PATIENCE && now < LIMIT) {
        if (n < WORKERS && now >= more) {
            workers[n] = fork();
            if (workers[n] == 0)
                work(l);
            n += workers[n] > 0;
            more = now + STALLED;
        }
        heartbeat();
        poll(NULL, 0, 1);
        now += clock_ms_turn(&clock, TURN);
        is = __atomic_load_n(&l->known, __ATOMIC_ACQUIRE);
        if (is != known) {
            last = now;
            more = now + STALLED;
        }
        known = is;
    }
    reap_by_kill(workers, n);
}

/* ---- all of it ---- */

typedef struct {
    int (*wanted)(const procfs_t *info, void *ctx);
    void (*each)(const procfs_t *info, const char *mark, void *ctx);
    void *ctx;
} blind_t;

static void call_blind(const procfs_t *info, void *ctx)
{
    const blind_t *b = ctx;

    if (b->wanted(info, b->ctx))
        b->each(info, NULL, b->ctx);
}

void environ_scan_read(int (*wanted)(const procfs_t *info, void *ctx),
                       void (*each)(const procfs_t *info, const char *mark,
                                    void *ctx),
                       void *ctx)
{
    list_t *l = make_list(wanted, ctx);
    size_t i;

    if (!l) {
        procfs_each(call_blind, &(blind_t){wanted, each, ctx});
        return;
    }
    read_all(l);
    for (i = 0; i < l->n; i++) {
        const entry_t *e = &l->entries[i];

        each(&e->info,
             __atomic_load_n(&e->known, __ATOMIC_ACQUIRE) ? e->mark : NULL,
             ctx);
    }
    munmap(l, size_of(l->n));
}
