/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* A store may be killed after any instruction that changes its history
 * (store/cluster/epoch.h). What is left loses no epoch, and says of none that the
 * data has more of it than it has. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "store/cluster/epoch.h"
#include "tests/crash/stepper.h"

#define NEW 99 /* id */

typedef struct {
    const char *name;
    uint32_t n;       /* epochs before it */
    uint64_t changes; /* in the present one */
    int adopts;       /* the history of another host, instead of a promotion */
} scene_t;

static const scene_t scenes[] = {
    {"the first promotion", 0, 0, 0},
    {"the second promotion", 1, 0, 0},
    {"a promotion", 5, 900, 0},
    {"a promotion after none that changed something", 5, 0, 0},
    {"a promotion with a full history", STORE_EPOCHS, 900, 0},
    {"the history of a master", 5, 900, 1},
    {"a master's history in place of a full one", STORE_EPOCHS, 900, 1},
};

typedef struct {
    const scene_t *scene;
    store_history_t *shared, before, theirs;
    unsigned images, failures;
} run_t;

static store_history_t make(uint32_t n, uint64_t changes, uint64_t first_id)
{
    store_history_t h = {.number = n, .n = n};
    uint32_t i;

    for (i = 0; i < n; i++)
        h.epoch[i] = (store_epoch_t){.id = first_id + i, .position = 100 + i};
    if (n > 0)
        h.epoch[0].position = changes;
    return h;
}

static void work(void *arg)
{
    run_t *run = arg;

    if (run->scene->adopts)
        store_epoch_adopt(run->shared, &run->theirs);
    else
        store_epoch_begin(run->shared, NEW, 0);
}

static void complain(run_t *run, unsigned step, const char *what, uint64_t id)
{
    if (run->failures++ < 5)
        printf("# %s, instruction %u: %s %llu\n", run->scene->name, step, what,
               (unsigned long long)id);
}

/* Does a full history forget this one, or is it replaced because it has nothing?
 */
static int may_go(const store_history_t *before, uint32_t i)
{
    return (i == 0 && before->n > 1 && before->epoch[0].position == 0) ||
           i == STORE_EPOCHS - 1;
}

static void judge_begin(run_t *run, unsigned step)
{
    uint32_t i;

    for (i = 0; i < run->before.n; i++) {
        const store_epoch_t *e = &run->before.epoch[i];

        if (!may_go(&run->before, i) &&
            !store_epoch_contains(run->shared, e->id, e->position))
            complain(run, step, "lost is epoch", e->id);
        if (store_epoch_contains(run->shared, e->id, e->position + 1))
            complain(run, step, "too much is said of epoch", e->id);
    }
    if (store_epoch_contains(run->shared, NEW, 1))
        complain(run, step, "too much is said of epoch", NEW);
    if (store_epoch_changes(run->shared) > store_epoch_changes(&run->before))
        complain(run, step,
                 "too many changes:", store_epoch_changes(run->shared));
}

static int is_same(const store_history_t *a, const store_history_t *b)
{
    return a->n == b->n && a->number == b->number && a->flags == b->flags &&
           memcmp(a->epoch, b->epoch, a->n * sizeof *a->epoch) == 0;
}

static void judge_adopt(run_t *run, unsigned step)
{
    if (run->shared->n != 0 && !is_same(run->shared, &run->theirs))
        complain(run, step, "epochs of both", run->shared->n);
}

static int look(void *ctx, pid_t pid, unsigned step)
{
    run_t *run = ctx;

    (void)pid;
    run->images++;
    if (run->scene->adopts)
        judge_adopt(run, step);
    else
        judge_begin(run, step);
    return run->failures > 20;
}

static void judge_end(run_t *run, unsigned steps)
{
    const store_history_t *h = run->shared;
    int done = run->scene->adopts
                   ? is_same(h, &run->theirs)
                   : h->epoch[0].id == NEW && h->epoch[0].position == 0 &&
                         h->number == run->before.number + 1;

    if (!done)
        complain(run, steps, "not done", 0);
}

static unsigned play(const scene_t *scene)
{
    run_t run = {.scene = scene,
                 .before = make(scene->n, scene->changes, 1),
                 .theirs = make(7, 50, 40)};
    unsigned steps;
    pid_t pid;

    run.shared = mmap(NULL, sizeof *run.shared, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (run.shared == MAP_FAILED)
        abort();
    *run.shared = run.before;
    steps = stepper_run(work, &run, run.shared, sizeof *run.shared, look, &run,
                        NULL, &pid);
    stepper_kill(pid);
    judge_end(&run, steps);
    printf("%s - %s: %u instructions, %u images\n",
           run.failures ? "not ok" : "ok", scene->name, steps, run.images);
    munmap(run.shared, sizeof *run.shared);
    return run.failures;
}

int main(void)
{
    unsigned i, good = 0, bad = 0;

    for (i = 0; i < sizeof scenes / sizeof *scenes; i++)
        if (play(&scenes[i]) == 0)
            good++;
        else
            bad++;
    printf("%u passed, %u failed\n", good, bad);
    return bad != 0;
}
