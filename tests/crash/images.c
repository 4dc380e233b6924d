/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* A process may be killed after any instruction of any verb.
 *
 * Each verb is run instruction by instruction. Each new image of the segment is
 * what a kill at that moment would leave. The test enters a copy of the image
 * as the next process would enter it. Then all invariants must hold, and the
 * outcome must be the one before the verb or the one after it. Then the process
 * is really killed at these moments, and a stranger continues: at each third of
 * them, because it takes ten times as long as a look at the image.
 *
 *     tests/crash/images [--quick | --long] [PART/PARTS]
 *
 * --quick only checks the images, and ends with the first scene that fails.
 * --long kills at each of the moments.
 * 1/2 takes the first scene of each two, 2/2 the other one. */

#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "shm/recovery/recovery.h"
#include "shm/verbs/enter.h"
#include "shm/lock/lock.h"
#include "tests/crash/scenes.h"
#include "tests/crash/stepper.h"
#include "tests/crash/stranger.h"
#include "shm/format/segment.h"

#define INSTANTS 4000
#define TRIES    3 /* to kill at an instant */

typedef struct {
    const scene_t *scene;
    stage_t *stage;
    stage_t copy;                 /* in memory of its own */
    char *before, *after, *later; /* later: after the next tick, too */
    char *image, *result;         /* the segment before the verb and after */
    unsigned instants[INSTANTS];  /* steps after which the image was new */
    unsigned n_instants, failures, between;
    stepper_path_t path; /* of the verb */
} run_t;

static unsigned images, kills, failures, instructions;
static unsigned each = 3; /* at one of so many moments it is killed; 0: never */

static void work(void *arg)
{
    run_t *run = arg;

    run->scene->verb(run->stage);
}

static void fail(run_t *run, unsigned step, const char *what)
{
    if (run->failures++ < 5)
        printf("# %s, instruction %u: %s\n", run->scene->name, step, what);
    failures++;
}

/* ---- outcomes ---- */

/* The outcome of a pool: the states of the slots, and which process each
 * session has. Times and numbers that a try has left do not count. */
static char *outcome(const apl_pool_t *pool)
{
    size_t size = 4096, n = 0;
    char *text = malloc(size);
    uint32_t i;

    for (i = 1; i < pool->n.groups; i++) {
        const apl_group_t *g = &pool->groups[i];

        if (g->state != APL_GROUP_FREE)
            n += (size_t)snprintf(
                text + n, size - n, "g%u:%u,%u,%u,%u,%u,%u,%u,%u ", i, g->size,
                g->spawning, g->waiting, g->failures, g->outdated, g->hung,
                g->unkillable, g->drained);
    }
    for (i = 1; i < pool->n.processes; i++) {
        const apl_process_t *p = &pool->processes[i];

        if (p->state != APL_PROCESS_FREE)
            n += (size_t)snprintf(text + n, size - n, "p%u:%u,%u,%u,%u,%u,%x ",
                                  i, p->state, p->sessions, p->abandoned,
                                  p->replaces,
                                  p->state == APL_PROCESS_LIVE && p->trial,
                                  (uint32_t)p->connection);
    }
    for (i = 1; i < pool->n.sessions; i++) {
        const apl_session_t *s = &pool->sessions[i];

        if (s->state != APL_SESSION_FREE)
            n += (size_t)snprintf(
                text + n, size - n, "s%u:%u,%u,%u,%u ", i, s->state, s->child,
                s->group, s->state == APL_SESSION_OPEN ? s->process : 0);
    }
    for (i = 1; i < pool->n.children; i++)
        n += (size_t)snprintf(text + n, size - n, "c%u:%u,%u ", i,
                              pool->children[i].state,
                              pool->children[i].sessions);
    return text;
}

/* The same slots in a copy of the segment. */
static apl_pool_t handle_on(const char *image, const apl_pool_t *pool)
{
    apl_pool_t h = *pool;

#define MOVE(table)                                                            \
    h.table = (void *)(uintptr_t)(image + ((char *)pool->table - pool->base))
    MOVE(groups);
    MOVE(processes);
    MOVE(sessions);
    MOVE(children);
    MOVE(numbers);
#undef MOVE
    return h;
}

/* I13: otherwise an old slot could be taken for the present one. */
static int generation_went_back(const run_t *run, const apl_pool_t *pool)
{
    apl_pool_t old = handle_on(run->image, &run->stage->pool);
    uint32_t i, back = 0;

#define COMPARE(table)                                                         \
    for (i = 1; i < pool->n.table; i++)                                        \
    back += pool->table[i].generation < old.table[i].generation
    COMPARE(groups);
    COMPARE(processes);
    COMPARE(sessions);
    COMPARE(children);
#undef COMPARE
    return back != 0;
}

/* The states say that the verb was done. Which field is not as the verb
 * leaves it? NULL: none. New options of an old group may be half written:
 * the next request brings them again. */
static const char *incomplete(const run_t *run, const apl_pool_t *pool)
{
    apl_pool_t done = handle_on(run->result, &run->stage->pool);
    apl_pool_t old = handle_on(run->image, &run->stage->pool);
    uint32_t i;

#define DIFFERS(table, from, to)                                               \
    (memcmp(&done.table[i].from, &pool->table[i].from,                         \
            (size_t)((char *)&done.table[i].to -                               \
                     (char *)&done.table[i].from)) != 0)
    for (i = 1; i < pool->n.groups; i++)
        if (done.groups[i].state == APL_GROUP_USED &&
            ((old.groups[i].state == APL_GROUP_FREE &&
              DIFFERS(groups, key, processes)) ||
             DIFFERS(groups, used, stamp_seq)))
            return "a group";
    for (i = 1; i < pool->n.processes; i++)
        if (done.processes[i].state > APL_PROCESS_WANTED &&
            (DIFFERS(processes, id, member) ||
             DIFFERS(processes, wire, padding)))
            return "a process";
    for (i = 1; i < pool->n.processes; i++)
        if (done.processes[i].state == APL_PROCESS_WANTED &&
            (pool->processes[i].birth == 0 ||
             DIFFERS(processes, replaces, padding)))
            return "an order";
    for (i = 1; i < pool->n.processes; i++)
        if (done.processes[i].connection != 0 &&
            DIFFERS(processes, connection, padding2))
            return "a connection";
    for (i = 1; i < pool->n.sessions; i++)
        if (done.sessions[i].state != APL_SESSION_FREE &&
            (DIFFERS(sessions, child, process) ||
             DIFFERS(sessions, outcome, link) ||
             DIFFERS(sessions, killed, method)))
            return "a session";
    for (i = 1; i < pool->n.children; i++)
        if (done.children[i].state == APL_CHILD_USED &&
            (pool->children[i].identity.pid == 0 ||
             DIFFERS(children, config, link)))
            return "a child";
#undef DIFFERS
    return NULL;
}

/* Is something with a time neither as before nor as after the verb? Without a
 * time, it is passed over. */
static int is_half(const int64_t *is, const int64_t *old, const int64_t *done,
                   size_t size)
{
    return *is != 0 && memcmp(is, old, size) != 0 &&
           memcmp(is, done, size) != 0;
}

/* Each counter is as before or after the verb. */
static int counts_wrong(const apl_numbers_t *is, const apl_numbers_t *old,
                        const apl_numbers_t *done)
{
    const uint32_t *word = (const void *)is;
    size_t begin = offsetof(apl_numbers_t, began), i;

    for (i = begin / 4; i < offsetof(apl_numbers_t, sampled) / 4; i++)
        if (word[i] != ((const uint32_t *)(const void *)old)[i] &&
            word[i] != ((const uint32_t *)(const void *)done)[i])
            return 1;
    return 0;
}

/* A response is counted once or not at all, and nobody sees half a moment or
 * half a step. */
static int numbers_are_wrong(const run_t *run, const apl_pool_t *pool)
{
    apl_pool_t done = handle_on(run->result, &run->stage->pool);
    apl_pool_t old = handle_on(run->image, &run->stage->pool);
    uint32_t i, wrong = 0;
    int k;

#define IS_HALF(part, of)                                                      \
    is_half(&pool->numbers[i].part[k].of, &old.numbers[i].part[k].of,          \
            &done.numbers[i].part[k].of, sizeof pool->numbers[i].part[k])
    for (i = 1; i < pool->n.groups; i++) {
        wrong += (uint32_t)counts_wrong(&pool->numbers[i], &old.numbers[i],
                                        &done.numbers[i]);
        for (k = 0; k < APL_STEPS; k++)
            wrong += (uint32_t)IS_HALF(steps, time);
        for (k = 0; k < APL_MOMENTS; k++)
            wrong += (uint32_t)(IS_HALF(moments[0], time) ||
                                IS_HALF(moments[1], time) ||
                                IS_HALF(moments[2], time));
    }
#undef IS_HALF
    return wrong != 0;
}

static char *outcome_after_entering(apl_pool_t *pool, apl_finding_t *finding)
{
    apl_lock_token_t token;

    finding->number = 0;
    if (apl_enter(&token, pool, SCENE_NOW + 9, 2000000) != APR_SUCCESS) {
        finding->number = -1;
        snprintf(finding->text, sizeof finding->text, "no entrance");
        return strdup("");
    }
    apl_leave(&token);
    apl_check(pool, finding);
    return outcome(pool);
}

static char *outcome_after_a_tick(apl_pool_t *pool, apl_finding_t *finding)
{
    int64_t next;

    apl_housekeeping_tick(pool, SCENE_NOW + 9, &next);
    return outcome_after_entering(pool, finding);
}

/* After a tick, is the pool the same as after the verb and a tick? */
static int is_finished(const run_t *run, apl_pool_t *pool)
{
    apl_finding_t finding;
    char *text = outcome_after_a_tick(pool, &finding);
    int same = finding.number == 0 && strcmp(text, run->later) == 0;

    free(text);
    return same;
}

static void judge(run_t *run, unsigned step, apl_pool_t *pool)
{
    apl_finding_t finding;
    char *text = outcome_after_entering(pool, &finding);
    char what[300];

    if (generation_went_back(run, pool))
        fail(run, step, "I13: a generation went back");
    if (numbers_are_wrong(run, pool))
        fail(run, step, "numbers that are neither before nor after");
    if (finding.number != 0) {
        snprintf(what, sizeof what, "I%d: %s", finding.number, finding.text);
        fail(run, step, what);
    }
    else if (strcmp(text, run->before) == 0)
        ;
    else if (strcmp(text, run->after) == 0) {
        const char *lost = incomplete(run, pool);

        if (lost)
            fail(run, step, lost);
    }
    else {
        run->between++;
        if (run->scene->several == 2 && !is_finished(run, pool))
            fail(run, step, "a tick does not finish it");
        if (!run->scene->several) {
            fail(run, step, "neither before nor after");
            if (run->failures == 1)
                printf("#   before %s\n#   after  %s\n#   is     %s\n",
                       run->before, run->after, text);
        }
    }
    free(text);
}

/* ---- images ---- */

static int look_at_image(void *ctx, pid_t pid, unsigned step)
{
    run_t *run = ctx;
    apl_pool_t *copy = &run->copy.pool;
    uint32_t lock;

    memcpy(copy->base, run->stage->pool.base, run->stage->size);
    lock = copy->header->lock;
    copy->damaged = 0;
    if (lock == 0 && copy->header->sequence % 2 != 0)
        fail(run, step, "no process is inside, but something changes");
    /* What the kernel does when the process ends. */
    copy->header->lock =
        (lock & FUTEX_TID_MASK) == (uint32_t)pid ? FUTEX_OWNER_DIED : lock;
    judge(run, step, copy);
    images++;
    if (run->n_instants < INSTANTS)
        run->instants[run->n_instants++] = step;
    return 0;
}

static void restore(run_t *run)
{
    memcpy(run->stage->pool.base, run->image, run->stage->size);
    run->stage->pool.damaged = 0;
}

/* @return 0: it was killed at that instant; -1: it took another way, also when it
 * was tried again */
static int kill_at(run_t *run, unsigned instant)
{
    pid_t pid = 0;
    int i;

    for (i = 0; i < TRIES && pid == 0; i++) {
        restore(run);
        pid = stepper_run_to(work, run, &run->path, instant);
    }
    if (pid == 0)
        return -1;
    stepper_kill(pid);
    return 0;
}

static void really_kill(run_t *run)
{
    unsigned i, missed = 0;
    pid_t pid;

    for (i = 0; i < run->n_instants; i += each) {
        if (kill_at(run, run->instants[i]) != 0) {
            missed++;
            continue;
        }
        if (apl_lock_holder(&run->stage->pool.header->lock) != 0)
            fail(run, run->instants[i], "the kernel did not mark the lock");
        pid = stranger_enters(run->stage);
        if (pid > 0)
            judge(run, run->instants[i], &run->stage->pool);
        if (pid < 0 || !stranger_goes_on(pid))
            fail(run, run->instants[i], "a stranger does not go on");
        kills++;
    }
    if (missed > 1 && 2 * missed * each > run->n_instants)
        fail(run, 0, "it takes another way each time");
}

static void copy_stage(run_t *run)
{
    run->copy.pool = run->stage->pool;
    apl_segment_format(&run->copy.pool,
                       mmap(NULL, run->stage->size, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
                       &(apl_capacity_t){run->stage->pool.n.groups - 1,
                                         run->stage->pool.n.processes - 1,
                                         run->stage->pool.n.sessions - 1,
                                         run->stage->pool.n.children - 1});
}

/* The outcome before the verb: the pool as the next process finds it without
 * the verb. */
static void step_through(const scene_t *scene, stage_t *stage)
{
    run_t run = {.scene = scene, .stage = stage};
    unsigned images_before = images, n;
    apl_finding_t finding;
    pid_t pid;

    stage_reset(stage);
    scene->prepare(stage);
    run.image = malloc(stage->size);
    memcpy(run.image, stage->pool.base, stage->size);
    copy_stage(&run);
    memcpy(run.copy.pool.base, run.image, stage->size);
    run.before = outcome_after_entering(&run.copy.pool, &finding);
    scene->verb(stage);
    run.after = outcome_after_entering(&stage->pool, &finding);
    run.result = malloc(stage->size);
    memcpy(run.result, stage->pool.base, stage->size);
    if (finding.number != 0)
        fail(&run, 0, "it breaks an invariant without being killed");
    run.later = outcome_after_a_tick(&stage->pool, &finding);
    stage_reset(stage);
    scene->prepare(stage);
    restore(&run);

    n = stepper_run(work, &run, stage->pool.base, stage->size, look_at_image,
                    &run, &run.path, &pid);
    stepper_kill(pid);
    if (each > 0)
        really_kill(&run);
    instructions += n;
    printf("%s - %s: %u instructions, %u images, %u between\n",
           run.failures ? "not ok" : "ok", scene->name, n,
           images - images_before, run.between);
    munmap(run.copy.pool.base, stage->size);
    free(run.before);
    free(run.after);
    free(run.later);
    free(run.image);
    free(run.result);
    stepper_free(&run.path);
}

int main(int argc, char **argv)
{
    stage_t *stage = calloc(1, sizeof *stage);
    unsigned i, good = 0, bad = 0, part = 1, parts = 1;
    int options = 0;

    if (argc == 3 && strcmp(argv[1], STRANGER) == 0)
        stranger_work(argv[2]);
    options = argc > 1 && strncmp(argv[1], "--", 2) == 0;
    if (options)
        each = strcmp(argv[1], "--long") == 0;
    if (argc > 1 + options &&
        (sscanf(argv[1 + options], "%u/%u", &part, &parts) != 2 || part < 1 ||
         part > parts)) {
        fprintf(stderr, "%s: %s is no PART/PARTS\n", argv[0],
                argv[1 + options]);
        return 2;
    }
    for (i = part - 1; i < n_scenes && (bad == 0 || each > 0); i += parts) {
        unsigned before = failures;

        step_through(&scenes[i], stage);
        if (failures == before)
            good++;
        else
            bad++;
    }
    printf("# %u instructions, %u images, %u kills, %u failures\n",
           instructions, images, kills, failures);
    printf("%u passed, %u failed\n", good, bad);
    return bad != 0;
}
