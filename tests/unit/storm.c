/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Processes are killed, also inside verbs, while others work and keep a ledger.
 * Was a process given twice? Was a request lost, overtaken or not woken? */

#include <linux/futex.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shm/recovery/recovery.h"
#include "shm/verbs/timeouts.h"
#include "shm/verbs/enter.h"
#include "tests/unit/support/ledger.h"
#include "tests/unit/support/repeats.h"
#include "tests/unit/support/scene.h"
#include "tests/unit/support/sleeps.h"

#define WORKERS LEDGER_WORKERS
#define KILLS   400         /* of any process, anywhere */
#define INSIDE  repeats(30) /* and this many with the lock held, step by step */
#define GO_ON   20000
#define ENOUGH  120000000ll /* us, for what takes less than a second */

static const ledger_rule_t rules[] = {{0, 0}, {1, 0}, {3, 0}, {1, 50}};

static scene_t *s;
static ledger_t *ledger;
static unsigned kills;

/* ---- a worker ---- */

static void one_session(ledger_session_t *v, uint32_t group, unsigned nap)
{
    apl_pool_t *pool = &s->pool;
    apl_session_ref_t h;
    int64_t now = apl_now();
    apr_status_t rv;

    v->group = group;
    v->asked = ledger_now(ledger);
    rv = apl_checkout(pool, &h, &s->apps[group - 1], NULL, NULL, now);
    if (h.session != 0)
        v->ticket = pool->sessions[h.session].ticket;
    if (rv == APL_EWAIT) {
        v->waited = 1;
        sleeps_on(&pool->sessions[h.session]);
        rv = apl_checkout_wait(pool, &h, now + ENOUGH, NULL, NULL);
        v->missed = sleeps_missed();
    }
    if (rv != APR_SUCCESS)
        _exit(3);
    v->process = h.id;
    v->granted = ledger_now(ledger);
    if (nap > 0)
        usleep(nap);
    v->closing = ledger_now(ledger);
    apl_checkin(pool, &h, apl_now());
    v->closed_at = apl_now();
    v->closed = ledger_now(ledger);
}

static void work(int worker, unsigned seed)
{
    ledger_session_t *v;

    if (apl_child_register(&s->pool, 1) != APR_SUCCESS)
        _exit(2);
    while ((v = ledger_session(ledger, worker)) != NULL) {
        uint32_t group = 1 + (uint32_t)rand_r(&seed) % 3;

        one_session(v, group,
                    rand_r(&seed) % 8 == 0 ? (unsigned)rand_r(&seed) % 200 : 0);
    }
    for (;;) /* enough is written */
        pause();
}

/* Fork a child that does not outlive this process. */
static pid_t fork_child(void)
{
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    return pid;
}

static pid_t start(int worker)
{
    static unsigned seed;
    pid_t pid = fork_child();

    seed++;
    if (pid == 0)
        work(worker, seed);
    return pid;
}

/* ---- the spawner, without processes ---- */

/* For a child of the test, where a failed assertion would not be seen. */
static void must(int condition)
{
    if (!condition)
        abort();
}

static void make_ready(uint64_t id)
{
    ready_t *r = &ledger->ready[ledger->n_ready];
    apr_status_t rv;

    must(ledger->n_ready + 1 < LEDGER_READY);
    r->process = id;
    r->begun = ledger_now(ledger);
    /* It may have to wait for a process that is stepped. */
    while ((rv = apl_supervise_ready(&s->pool, id, apl_now())) == APL_ELOCK)
        ;
    must(rv == APR_SUCCESS);
    r->done_at = apl_now();
    ledger->n_ready++;
}

static void end(uint64_t id)
{
    uint32_t i = ledger->n_ready;
    apr_status_t rv = apl_supervise_gone(&s->pool, id, apl_now());

    must(rv == APR_SUCCESS || rv == APL_ELOCK);
    while (rv == APR_SUCCESS && i-- > 0)
        ledger->ready[i].gone += ledger->ready[i].process == id;
}

/* A worker that sleeps is hung, and now and then it is killed. */
static void look_at_clock(void)
{
    apl_session_peek_t r;

    if (apl_timeouts_find(&s->pool, apl_now(), &r, 1) > 0 && rand() % 8 == 0)
        apl_timeouts_expire(&s->pool, &r, apl_now());
}

/* What an administrator and the clock may do meanwhile. */
static void meddle(void)
{
    uint64_t ids[64];
    uint32_t n = apl_reconcile_ids(&s->pool, ids, 64);
    const char *name = s->apps[rand() % 3].name;
    int64_t now = apl_now();

    switch (rand() % 60) {
    case 0:
        apl_admin_restart(&s->pool, name, rand() % 2, now);
        break;
    case 1:
        apl_configure_limits(&s->pool, 2 + (uint32_t)(rand() % 3), 1, now);
        break;
    case 2:
        if (n > 0)
            apl_supervise_detach(&s->pool, ids[(uint32_t)rand() % n],
                                 APL_EVENT_DETACHED, now);
        break;
    default:
        if (rand() % 8 == 0)
            look_at_clock();
    }
}

static void supervise(void)
{
    apl_order_t order;
    uint64_t ids[64];
    uint32_t i, n;

    s->pool.patience = APL_PATIENCE;
    while (apl_supervise_next_order(&s->pool, (uint64_t)rand() << 20, apl_now(),
                                    &order) == APR_SUCCESS)
        make_ready(order.id);
    n = apl_reconcile_ids(&s->pool, ids, 64);
    for (i = 0; i < n; i++)
        if (apl_supervise_may_end(&s->pool, ids[i], apl_now()) == APR_SUCCESS)
            end(ids[i]);
}

static pid_t start_spawner(void)
{
    pid_t pid = fork_child();

    while (pid == 0) {
        if (__atomic_load_n(&ledger->stop, __ATOMIC_RELAXED))
            _exit(0);
        meddle();
        supervise();
        usleep((useconds_t)(rand() % 300));
    }
    return pid;
}

static void stop_spawner(pid_t pid)
{
    int status;

    ledger->stop = 1;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void report_dead(int worker, pid_t pid)
{
    uint32_t i, n = ledger->workers[worker].n;
    ledger_session_t *v =
        n > 0 ? &ledger->workers[worker].sessions[n - 1] : NULL;
    apl_child_watch_t w;

    if (v && (v->closed != 0 || v->died != 0))
        v = NULL; /* it died between two */
    if (v)
        v->died = ledger_now(ledger);
    s->pool.patience = APL_PATIENCE;
    for (i = 1; i < s->pool.n.children; i++)
        if (apl_child_watch_at(&s->pool, i, &w) == APR_SUCCESS &&
            w.identity.pid == pid)
            while (apl_child_watch_gone(&s->pool, &w, apl_now()) == APL_ELOCK)
                ;
    scene_hang_up(s);
    if (v)
        v->reported_at = apl_now();
}

/* ---- the killer ---- */

static unsigned repairs(void)
{
    return (unsigned)s->pool.header->counters.repairs;
}

static void kill_one(pid_t pids[WORKERS], int worker, int go_on)
{
    pid_t pid = pids[worker];
    int status;

    kills++;
    ledger_allow(ledger);
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, SIGKILL); /* it had not given up by itself */
    report_dead(worker, pid);
    if (go_on)
        pids[worker] = start(worker);
}

static int is_inside(pid_t pid)
{
    return (__atomic_load_n(&s->pool.header->lock, __ATOMIC_RELAXED) &
            FUTEX_TID_MASK) == (uint32_t)pid;
}

static void await_stop(pid_t pid)
{
    int status;

    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSTOPPED(status));
}

/* Few kills would ever hit the lock holder. So one process is stepped,
 * instruction by instruction, until it has the lock, and then a few more. */
static int catch_inside(const pid_t pids[WORKERS])
{
    int worker = rand() % WORKERS, more = rand() % 200;
    pid_t pid = pids[worker];

    ledger_allow(ledger);
    assert_int_equal(ptrace(PTRACE_SEIZE, pid, NULL, NULL), 0);
    assert_int_equal(ptrace(PTRACE_INTERRUPT, pid, NULL, NULL), 0);
    await_stop(pid);
    while (!is_inside(pid) || more-- > 0) {
        assert_int_equal(ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL), 0);
        await_stop(pid);
    }
    return worker;
}

static void check(void)
{
    apl_lock_token_t token;
    apl_finding_t finding;
    uint32_t overtaken;

    assert_int_equal(apl_enter(&token, &s->pool, apl_now(), APL_FOREVER), 0);
    apl_check(&s->pool, &finding);
    overtaken = scene_overtaken(&s->pool);
    /* A process that dies inside leaves something to repair, but no damage. */
    assert_int_equal(s->pool.header->roll_call, 0);
    apl_leave(&token);
    if (finding.number != 0)
        fail_msg("I%d: %s", finding.number, finding.text);
    assert_int_equal(overtaken, 0);
}

static void share_scene(void)
{
    int i;

    s = scene_new(4);
    apl_child_unregister(&s->pool);
    scene_app(s, "a");
    scene_app(s, "b")->options.concurrency = rules[2].concurrency;
    scene_app(s, "c")->options.max_requests = rules[3].max_requests;
    for (i = 0; i < 3; i++) {
        s->apps[i].options.hung_after = 50;
        s->apps[i].options.kill_after = 150;
        s->apps[i].options.spawn_if_under = 2;
        s->apps[i].options.hung_extra = 1;
    }
    ledger = ledger_new();
}

static void strike(pid_t pids[WORKERS])
{
    unsigned i, before;

    for (i = 0; i < KILLS; i++) {
        usleep((useconds_t)(rand() % 2000));
        kill_one(pids, rand() % WORKERS, 1);
        check();
    }
    for (i = 0; i < INSIDE; i++) {
        before = repairs();
        kill_one(pids, catch_inside(pids), 1);
        check();
        assert_true(repairs() > before);
    }
}

/* No child has a session any more, and each live process is known. */
static void all_is_there(const ledger_sums_t *sums)
{
    const apl_header_t *h = s->pool.header;
    uint32_t i;

    check();
    assert_int_equal(h->active + h->waiting, 0);
    assert_int_equal(h->count + h->leaving, ledger->n_ready - sums->ended);
    for (i = 1; i <= h->top_session; i++)
        assert_int_equal(s->pool.sessions[i].state, APL_SESSION_FREE);
    for (i = 1; i <= h->top_child; i++)
        assert_int_equal(s->pool.children[i].state, APL_CHILD_FREE);
}

static void a_storm_of_kills_tears_nothing(void **state)
{
    pid_t pids[WORKERS], spawner;
    ledger_sums_t sums = {0};
    char why[200];
    uint64_t sessions;
    int64_t until;
    int i;

    (void)state;
    share_scene();
    srand(5);
    spawner = start_spawner();
    for (i = 0; i < WORKERS; i++)
        pids[i] = start(i);
    strike(pids);
    /* The survivors continue. */
    sessions = ledger_sessions(ledger) + GO_ON;
    for (until = apl_now() + ENOUGH; ledger_sessions(ledger) < sessions;) {
        ledger_allow(ledger);
        assert_true(usleep(500) == 0 && apl_now() < until);
    }
    for (i = 0; i < WORKERS; i++)
        kill_one(pids, i, 0);
    stop_spawner(spawner);
    if (!ledger_check(ledger, rules, &sums, why))
        fail_msg("%s", why);
    all_is_there(&sums);
    assert_true(s->pool.header->counters.killed > 0);
    print_message("%u served, %u waited, %u slept out; %u killed, %u inside\n",
                  (unsigned)sums.served, (unsigned)sums.waited,
                  (unsigned)sums.missed, kills, repairs());
    ledger_drop(ledger);
    scene_drop(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_storm_of_kills_tears_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
