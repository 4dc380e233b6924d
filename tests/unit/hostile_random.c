/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* hostile.c at random: another process writes any bytes anywhere while verbs of
 * root run. The verbs end, and touch nothing outside the segment. Here the
 * segment is between areas that no process may touch. */

#include <apr_general.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "shm/recovery/recovery.h"
#include "shm/verbs/enter.h"
#include "shm/verbs/step.h"
#include "shm/slots/group.h"
#include "shm/view/view.h"
#include "shm/view/snapshot.h"
#include "tests/unit/support/repeats.h"
#include "tests/unit/support/scene.h"
#include "shm/format/segment.h"

#define SPACE ((size_t)4 << 40) /* an index of 32 bits times a record */
#define US    (getenv("WALKS") ? 1000000 : 250000) /* of each kind of writes */
#define TURNS repeats(100) /* and at least this many turns */
#define LIMIT 300          /* s: a verb that takes longer hangs */

static apl_pool_t pool;
static unsigned seed;

static void lay_out(void)
{
    static const apl_capacity_t capacity = {8, 32, 64, 8};
    size_t size = (apl_segment_size(&capacity) + 4095) / 4096 * 4096;
    char *space = mmap(NULL, 2 * SPACE, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    char *memory = space + SPACE;

    assert_ptr_not_equal(space, MAP_FAILED);
    assert_ptr_not_equal(mmap(memory, size, PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
                         MAP_FAILED);
    apl_segment_format(&pool, memory, &capacity);
    assert_int_equal(apl_configure_limits(&pool, 16, 1, apl_now()),
                     APR_SUCCESS);
}

/* ---- the writer ---- */

static uint32_t plausible(unsigned *dice)
{
    static const uint32_t values[] = {
        0,  1,  2,  3,  4,          7,          8,          9,      31,
        32, 33, 64, 65, 0x7fffffff, 0x80000000, 0xffffffff, 0x10000};
    uint32_t n = (uint32_t)rand_r(dice);

    switch (n % 4) {
    case 0:
        return values[n / 4 % (sizeof values / sizeof *values)];
    case 1: /* a link */
        return n / 4 % pool.size / 4 * 4;
    case 2: /* a value from another place */
        return *(uint32_t *)(void *)(pool.base + n / 4 % pool.size / 4 * 4);
    default:
        return n << 2 ^ n >> 7;
    }
}

/* A word of the header's first half, where counts and heads are, or of any
 * slot. Not the lock: see the last test. */
static uint32_t *somewhere(unsigned *dice)
{
    uint32_t n = (uint32_t)rand_r(dice);
    uint32_t *word =
        (uint32_t *)(void *)(pool.base +
                             (n % 2 ? n / 2 % 512 : n / 2 % pool.size) / 4 * 4);

    return word == &pool.header->lock ? word + 2 : word;
}

static void write_single_words(unsigned *dice)
{
    *somewhere(dice) = plausible(dice);
}

/* Two values in turns: a bound changes just after it was checked. */
static void flip_a_word(unsigned *dice)
{
    volatile uint32_t *word = somewhere(dice);
    uint32_t was = *word, other = plausible(dice);
    int i;

    for (i = 0; i < 2000; i++) {
        *word = other;
        *word = was;
    }
}

static void write_garbage(unsigned *dice)
{
    uint32_t *word = somewhere(dice);

    *word = (uint32_t)rand_r(dice) * 2654435761u;
}

/* Write back the old bytes again and again: a slot that root takes out of a
 * list is in it again. The lock, and the sequence number beside it, are not
 * written. */
static void put_back(unsigned *dice)
{
    static char image[1 << 20];
    size_t before = offsetof(apl_header_t, lock);
    size_t after = offsetof(apl_header_t, max);
    int i;

    (void)dice;
    memcpy(image, pool.base, pool.size);
    for (i = 0; i < 500; i++) {
        memcpy(pool.base, image, before);
        memcpy(pool.base + after, image + after, pool.size - after);
    }
}

/* ---- the verbs of root ---- */

static void report(apr_pool_t *p)
{
    apl_pool_t *copy;
    apl_finding_t finding;
    apr_pool_t *sub;
    json_t *doc;
    static apl_step_use_t use[16];

    memset(use, 0, sizeof use);
    apl_step_sample(&pool, use, apl_now());
    apr_pool_create(&sub, p);
    if (apl_snapshot_take(&copy, &pool, sub) == APR_SUCCESS) {
        doc = apl_report_json(copy, 1);
        apl_report_sparks(doc, copy);
        json_decref(doc);
        json_decref(apl_report_app_history(copy, "shop"));
        apl_check(copy, &finding);
    }
    apr_pool_destroy(sub);
}

static uint64_t some_id(unsigned *dice)
{
    uint64_t ids[64];
    uint32_t n = apl_reconcile_ids(&pool, ids, 64);

    return n > 0 && rand_r(dice) % 4 ? ids[(uint32_t)rand_r(dice) % n]
                                     : (uint64_t)rand_r(dice);
}

static void supervise(unsigned *dice, int64_t now)
{
    static const apl_app_t app = {.name = "shop", .root = "/srv/shop"};
    apl_app_t asked = app;
    apl_condition_t condition;
    apl_child_watch_t watch;
    apl_order_t order;
    const apl_start_t start = scene_start(4711);
    uint64_t id = some_id(dice);
    char name[APL_NAME_MAX];
    uint32_t i;

    asked.key = apl_group_key(app.name);
    asked.options.min_instances = (uint32_t)rand_r(dice) % 4;
    asked.options.concurrency = (uint32_t)rand_r(dice) % 3;
    apl_configure_group(&pool, &asked, 1, now);
    if (apl_supervise_next_order(&pool, (uint64_t)rand_r(dice) << 20, now,
                                 &order) == APR_SUCCESS) {
        apl_supervise_forked(&pool, order.id, &start, now);
        if (rand_r(dice) % 4)
            apl_supervise_ready(&pool, order.id, now);
        else
            apl_supervise_failed(&pool, order.id, 1, 1, "why", now);
    }
    switch (rand_r(dice) % 6) {
    case 0:
        apl_supervise_gone(&pool, id, now);
        break;
    case 1:
        apl_supervise_detach(&pool, id, APL_EVENT_DETACHED, now);
        break;
    case 2:
        apl_reconcile_adopt(&pool, id, &start, app.name, 1, now);
        break;
    case 3:
        apl_admin_restart(&pool, app.name, rand_r(dice) % 3 - 1, now);
        break;
    case 4:
        apl_supervise_outdate(&pool, id, now);
        break;
    default:
        apl_configure_remove(&pool, app.name, now);
    }
    apl_reconcile_condition(&pool, id, &condition);
    for (i = 0; i < 12; i++) {
        apl_configure_group_name(&pool, i, name);
        if (apl_child_watch_at(&pool, i, &watch) == APR_SUCCESS)
            apl_child_watch_gone(&pool, &watch, now);
    }
}

static _Noreturn void be_root(void)
{
    apr_pool_t *p;
    unsigned dice = seed, n = 0;
    int64_t began = apl_now(), next;

    signal(SIGSEGV, SIG_DFL); /* cmocka would go on with the next test */
    alarm(LIMIT);
    apr_initialize();
    apr_pool_create(&p, NULL);
    while (apl_now() - began < US || n <= TURNS) {
        supervise(&dice, apl_now());
        apl_housekeeping_tick(&pool, apl_now(), &next);
        if (n % 3 == 0)
            pool.damaged = 1; /* so repair is attacked as well */
        if (n++ % 16 == 0)
            report(p);
    }
    _exit(0);
}

/* ---- both together ---- */

static void while_somebody_writes(void (*writing)(unsigned *dice))
{
    unsigned dice;
    pid_t writer, root;
    int status = 0;

    lay_out();
    seed = dice = (unsigned)time(NULL);
    print_message("# seed %u\n", seed);
    writer = fork();
    if (writer == 0)
        for (;;)
            writing(&dice);
    root = fork();
    if (root == 0)
        be_root();
    assert_int_equal(waitpid(root, &status, 0), root);
    kill(writer, SIGKILL);
    waitpid(writer, NULL, 0);
    if (status != 0)
        fail_msg("root's process ended with status %x, seed %u", status, seed);
    munmap(pool.base - SPACE, 2 * SPACE);
}

static void single_words(void **state)
{
    (void)state;
    while_somebody_writes(write_single_words);
}

static void words_in_and_out(void **state)
{
    (void)state;
    while_somebody_writes(flip_a_word);
}

static void garbage(void **state)
{
    (void)state;
    while_somebody_writes(write_garbage);
}

static void what_was_there(void **state)
{
    (void)state;
    while_somebody_writes(put_back);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_words),
        cmocka_unit_test(words_in_and_out),
        cmocka_unit_test(garbage),
        cmocka_unit_test(what_was_there),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
