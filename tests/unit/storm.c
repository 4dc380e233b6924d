/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Many are killed inside the pool's verbs, and it holds: nothing is given to
 * two, nothing is lost, everything comes back. */

#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shm/check.h"
#include "shm/enter.h"
#include "shm/group.h"
#include "tests/unit/scene.h"

#define WORKERS 4
#define KILLS   400 /* of anybody, anywhere */
#define INSIDE  30  /* and so many with the lock held */
#define MAX     3

/* Beside the pool: which worker has which process. */
typedef struct {
    int32_t holder[1101]; /* pid, by slot of the process */
    uint32_t double_use;
    uint32_t served;
} ledger_t;

static scene_t *s;
static ledger_t *ledger;
static unsigned kills;

static void use(const apl_hold_t *h)
{
    int32_t *holder = &ledger->holder[h->id & 0xffff];
    int32_t before = __atomic_exchange_n(holder, getpid(), __ATOMIC_SEQ_CST);

    if (before != 0 && kill(before, 0) == 0)
        __atomic_add_fetch(&ledger->double_use, 1, __ATOMIC_SEQ_CST);
    __atomic_store_n(holder, 0, __ATOMIC_SEQ_CST);
    __atomic_add_fetch(&ledger->served, 1, __ATOMIC_SEQ_CST);
}

static void work(unsigned seed)
{
    if (apl_child_register(&s->pool, 1) != APR_SUCCESS)
        _exit(2);
    for (;;) {
        const apl_app_t *app = &s->apps[rand_r(&seed) % 3];
        apl_hold_t h;
        int64_t now = apl_now();
        apr_status_t rv = apl_checkout(&s->pool, &h, app, NULL, NULL, now);

        if (rv == APL_EWAIT)
            rv = apl_checkout_wait(&s->pool, &h, now + 20000000, NULL, NULL);
        if (rv != APR_SUCCESS) {
            fprintf(stderr, "worker: status %d\n", rv);
            _exit(3);
        }
        use(&h);
        apl_checkin(&s->pool, &h, apl_now());
    }
}

static pid_t start(int seed)
{
    pid_t pid = fork();

    if (pid == 0)
        work((unsigned)seed);
    assert_true(pid > 0);
    return pid;
}

/* What the spawner does, without processes. */
static void supervise(void)
{
    apl_order_t order;
    uint64_t ids[64];
    uint32_t i, n;

    while (apl_supervise_take(&s->pool, (uint64_t)rand() << 20, apl_now(),
                              &order) == APR_SUCCESS)
        apl_supervise_ready(&s->pool, order.id, apl_now());
    n = apl_supervise_known(&s->pool, ids, 64);
    for (i = 0; i < n; i++) {
        apl_condition_t c;

        if (apl_supervise_condition(&s->pool, ids[i], &c) == APR_SUCCESS &&
            c.state == APL_PROCESS_LEAVING && c.sessions == 0)
            apl_supervise_gone(&s->pool, ids[i], apl_now());
    }
}

static void report_dead(pid_t pid)
{
    apl_watch_t w;
    uint32_t i;

    for (i = 1; i < s->pool.n.children; i++)
        if (apl_supervise_child(&s->pool, i, &w) == APR_SUCCESS &&
            w.who.pid == pid)
            assert_int_equal(apl_supervise_child_gone(&s->pool, &w, apl_now()),
                             APR_SUCCESS);
}

static unsigned repairs(void)
{
    return (unsigned)s->pool.header->counters.repairs;
}

static void kill_one(pid_t *pid, int seed)
{
    int status;

    kills++;
    kill(*pid, SIGKILL);
    assert_int_equal(waitpid(*pid, &status, 0), *pid);
    assert_true(WIFSIGNALED(status)); /* it had not given up by itself */
    report_dead(*pid);
    if (seed >= 0)
        *pid = start(seed);
}

/* A worker that is stopped with the lock held. On a busy machine few kills
 * would ever hit one, so look before. */
static pid_t *catch_inside(pid_t pids[WORKERS])
{
    const uint32_t *lock = &s->pool.header->lock;

    for (;;) {
        pid_t *pid = &pids[rand() % WORKERS];
        int status;

        supervise();
        usleep((useconds_t)(rand() % 100));
        kill(*pid, SIGSTOP);
        assert_int_equal(waitpid(*pid, &status, WUNTRACED), *pid);
        assert_true(WIFSTOPPED(status));
        if ((__atomic_load_n(lock, __ATOMIC_RELAXED) & FUTEX_TID_MASK) ==
            (uint32_t)*pid)
            return pid;
        kill(*pid, SIGCONT);
    }
}

static void check(void)
{
    apl_held_t held;
    apl_finding_t finding;

    assert_int_equal(apl_enter(&held, &s->pool, apl_now(), APL_FOREVER),
                     APR_SUCCESS);
    if (!apl_check(&s->pool, &finding)) {
        apl_leave(&held);
        fail_msg("I%d: %s", finding.number, finding.text);
    }
    /* Who dies inside leaves something to repair, but no damage. */
    assert_int_equal(s->pool.header->roll, 0);
    apl_leave(&held);
}

/* The scene is made by scene_new() in memory of its own: move it to where
 * the workers see it too. */
static void share_scene(void)
{
    const apl_capacity_t n = {100, 100, 200, 40};
    void *memory = mmap(NULL, apl_segment_size(&n), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    s = calloc(1, sizeof *s);
    apl_segment_format(&s->pool, memory, &n);
    apl_supervise_limits(&s->pool, MAX, 1, apl_now());
    scene_app(s, "a");
    scene_app(s, "b")->options.concurrency = 1;
    scene_app(s, "c")->options.max_requests = 50;
    ledger = mmap(NULL, sizeof *ledger, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

static void a_storm_of_kills_tears_nothing(void **state)
{
    pid_t pids[WORKERS];
    uint32_t served;
    int i, seed = 1;

    (void)state;
    share_scene();
    srand(5);
    for (i = 0; i < WORKERS; i++)
        pids[i] = start(seed++);
    for (i = 0; i < KILLS; i++) {
        int nap = 1 + rand() % 3;

        while (nap-- > 0) {
            supervise();
            usleep((useconds_t)(rand() % 700));
        }
        kill_one(&pids[rand() % WORKERS], seed++);
        check();
    }
    for (i = 0; i < INSIDE; i++) {
        unsigned before = repairs();

        kill_one(catch_inside(pids), seed++);
        check();
        assert_true(repairs() > before);
    }
    /* The survivors go on. */
    served = ledger->served;
    for (i = 0; i < 10000 && ledger->served < served + 1000; i++) {
        supervise();
        usleep(500);
    }
    assert_true(ledger->served >= served + 1000);
    for (i = 0; i < WORKERS; i++)
        kill_one(&pids[i], -1);
    check();
    assert_int_equal(ledger->double_use, 0);
    assert_int_equal(s->pool.header->active, 0);
    assert_int_equal(s->pool.header->waiting, 0);
    print_message("%u served, %u killed, %u of them inside\n", ledger->served,
                  kills, repairs());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_storm_of_kills_tears_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
