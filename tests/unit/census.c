/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* One look at all processes answers all who have asked: what is left of a
 * session, signals for it, its memory. errand_fork() is ours here: the linker
 * wraps it. */

#include "spawner/census.h"

#include <apr_general.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spawner/errand.h"
#include "spawner/log.h"
#include "spawner/process.h"
#include "tests/unit/family.h"
#include "tests/unit/scene.h"

#define MEGABYTE (1 << 20)

static char dir[] = "/tmp/census-XXXXXX";
static int n_forks, n_refused;
static pid_t looks; /* the child */

pid_t __real_errand_fork(spawner_t *s, errand_t *e, int64_t limit,
                         errand_ended_t *ended);
pid_t __wrap_errand_fork(spawner_t *s, errand_t *e, int64_t limit,
                         errand_ended_t *ended);

pid_t __wrap_errand_fork(spawner_t *s, errand_t *e, int64_t limit,
                         errand_ended_t *ended)
{
    n_forks++;
    if (n_refused > 0) {
        n_refused--;
        errno = EAGAIN;
        return -1;
    }
    looks = __real_errand_fork(s, e, limit, ended);
    return looks;
}

static spawner_t *spawner(void)
{
    return spawner_state();
}

/* ---- the scene ---- */

static int setup(void **state)
{
    spawner_t *s = spawner();

    (void)state;
    apr_initialize();
    apr_pool_create(&s->pool, NULL);
    s->rt.dir = mkdtemp(dir);
    s->rt.fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    log_directory(s->rt.fd);
    s->now = SECOND;
    return mknodat(s->rt.fd, CONTRACT_ERRORLOG, S_IFREG | 0600, 0);
}

static int teardown(void **state)
{
    (void)state;
    unlinkat(spawner()->rt.fd, CONTRACT_ERRORLOG, 0);
    return rmdir(dir);
}

static int forget(void **state)
{
    process_t *p;

    (void)state;
    for (p = spawner()->processes; p; p = p->next)
        p->done = 1;
    process_collect(spawner());
    n_forks = 0;
    return 0;
}

static process_t *process_of(const family_t *session)
{
    static uint64_t id = 0x70001;
    process_t *p = process_new(spawner(), id++, "shop");

    assert_non_null(p);
    p->is.pid = session->leader;
    p->is.start = session->is.start;
    p->child = 1;
    return p;
}

static process_t *dead(const family_t *session)
{
    process_t *p = process_of(session);

    family_end_leader(session);
    p->gone = 1;
    p->died_ticks = procfs_now();
    return p;
}

/* As the loop does. @return is there a child that looks? */
static int begin(void)
{
    int n = n_forks;

    spawner()->now += SECOND;
    census_tend(spawner());
    return n_forks > n;
}

static void finish(void)
{
    siginfo_t info;

    memset(&info, 0, sizeof info);
    assert_int_equal(waitid(P_PID, (id_t)looks, &info, WEXITED | WNOWAIT), 0);
    errand_reap(spawner(), &info);
    assert_int_equal(waitpid(looks, NULL, 0), looks);
}

static void look(void)
{
    assert_true(begin());
    finish();
}

/* ---- tests ---- */

static void nothing_is_asked_for(void **state)
{
    (void)state;
    assert_false(begin());
}

static void one_look_answers_all(void **state)
{
    family_t session[3];
    process_t *p[3];
    int i;

    (void)state;
    for (i = 0; i < 3; i++) {
        family_begin(&session[i], 0);
        p[i] = dead(&session[i]);
        assert_int_equal(p[i]->census.found, -1);
    }
    family_kill(&session[2]);
    for (i = 0; i < 3; i++)
        census_ask(spawner(), p[i], i == 0 ? SIGTERM : 0);
    look();
    assert_int_equal(n_forks, 1);
    assert_int_equal(p[0]->census.found, 1);
    assert_int_equal(p[1]->census.found, 1);
    assert_int_equal(p[2]->census.found, 0);
    assert_false(p[0]->census.killed);
    family_wait(&session[0]);
    assert_int_equal(family_alive(&session[1]), FAMILY_MEMBERS);
    assert_false(begin());
    census_ask(spawner(), p[0], 0);
    census_ask(spawner(), p[1], SIGKILL);
    look();
    assert_int_equal(p[0]->census.found, 0);
    assert_true(p[1]->census.killed);
    family_wait(&session[1]);
}

/* The number of a session may be given away when all of it is dead: what
 * began after the leader's death is only its if it bears the mark. */
static void what_began_later_is_not_its(void **state)
{
    family_t session;
    process_t *p;

    (void)state;
    family_begin(&session, 0);
    p = dead(&session);
    p->died_ticks = session.is.start - 1;
    census_ask(spawner(), p, SIGKILL);
    look();
    assert_int_equal(p->census.found, 0);
    assert_int_equal(family_alive(&session), FAMILY_MEMBERS);
    family_kill(&session);
}

/* Nor is what is older than the leader. */
static void what_is_older_is_not_its(void **state)
{
    family_t session;
    process_t *p;

    (void)state;
    family_begin(&session, 0);
    p = dead(&session);
    p->is.start = p->died_ticks + 1;
    p->died_ticks += 2;
    census_ask(spawner(), p, SIGKILL);
    look();
    assert_int_equal(p->census.found, 0);
    assert_int_equal(family_alive(&session), FAMILY_MEMBERS);
    family_kill(&session);
}

/* Taken over, and there was no descriptor for it: nobody has sent it one. */
static void a_leader_without_a_pidfd(void **state)
{
    family_t session;
    process_t *p;

    (void)state;
    family_begin(&session, 0);
    p = process_of(&session);
    p->child = 0;
    census_ask(spawner(), p, SIGTERM);
    look();
    family_wait(&session);
    assert_int_equal(waitpid(session.leader, NULL, 0), session.leader);
    close(session.ends[1]);
}

/* It has had the signal; and what it has started is not all there yet. */
static void a_leader_that_lives(void **state)
{
    family_t session;
    process_t *p;

    (void)state;
    family_begin(&session, 0);
    p = process_of(&session);
    census_ask(spawner(), p, SIGTERM);
    look();
    assert_int_equal(p->census.found, -1);
    family_wait(&session);
    assert_true(family_is_alive(session.leader));
    family_end_leader(&session);
}

/* One that is stopped hears nothing else: both are sent. */
static void several_signals(void **state)
{
    family_t session;
    process_t *p;
    int i;

    (void)state;
    family_begin(&session, 0);
    p = dead(&session);
    for (i = 0; i < FAMILY_MEMBERS; i++)
        kill(session.member[i], SIGSTOP);
    census_ask(spawner(), p, SIGTERM);
    census_ask(spawner(), p, SIGCONT);
    look();
    family_wait(&session);
}

static void no_child_can_be_made(void **state)
{
    family_t session;
    process_t *p;

    (void)state;
    family_begin(&session, 0);
    p = dead(&session);
    census_ask(spawner(), p, SIGKILL);
    n_refused = 2;
    assert_true(begin());
    assert_true(begin());
    assert_int_equal(p->census.found, -1);
    assert_int_equal(family_alive(&session), FAMILY_MEMBERS);
    spawner()->wake = INT64_MAX;
    census_tend(spawner()); /* too soon, but it is not forgotten */
    assert_true(spawner()->wake <= spawner()->now + SECOND);
    look();
    assert_int_equal(p->census.found, 1);
    assert_true(p->census.killed);
    family_wait(&session);
}

static void the_child_takes_too_long(void **state)
{
    family_t session;
    process_t *p;

    (void)state;
    family_begin(&session, 0);
    p = dead(&session);
    census_ask(spawner(), p, SIGKILL);
    assert_true(begin());
    spawner()->now += 60 * SECOND;
    errand_tend(spawner());
    finish();
    assert_int_equal(p->census.found, -1);
    assert_false(p->census.killed);
    spawner()->now += 60 * SECOND;
    look();
    assert_true(p->census.killed);
    family_wait(&session);
}

/* It is gone from the list before the answer comes. */
static void nobody_waits_for_it(void **state)
{
    family_t session;
    process_t *p;

    family_begin(&session, 0);
    p = dead(&session);
    census_ask(spawner(), p, SIGKILL);
    assert_true(begin());
    forget(state);
    finish();
    family_wait(&session);
}

static void its_memory(void **state)
{
    family_t large, small;
    process_t *p, *other;

    (void)state;
    family_begin(&large, 20 * MEGABYTE);
    family_begin(&small, 0);
    p = process_of(&large);
    other = process_of(&small);
    other->weight = -1;
    census_weigh(spawner(), p);
    census_ask(spawner(), other, 0);
    look();
    assert_true(p->weight >= FAMILY_MEMBERS * 20 * MEGABYTE);
    assert_int_equal(other->weight, -1); /* nobody has asked */
    census_weigh(spawner(), other);
    look();
    assert_true(other->weight > 0 && other->weight < p->weight);
    family_kill(&large);
    family_kill(&small);
    family_end_leader(&small); /* it has copies of the other's descriptors */
    family_end_leader(&large);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(nothing_is_asked_for, forget),
        cmocka_unit_test_teardown(one_look_answers_all, forget),
        cmocka_unit_test_teardown(what_began_later_is_not_its, forget),
        cmocka_unit_test_teardown(what_is_older_is_not_its, forget),
        cmocka_unit_test_teardown(a_leader_that_lives, forget),
        cmocka_unit_test_teardown(a_leader_without_a_pidfd, forget),
        cmocka_unit_test_teardown(several_signals, forget),
        cmocka_unit_test_teardown(no_child_can_be_made, forget),
        cmocka_unit_test_teardown(the_child_takes_too_long, forget),
        cmocka_unit_test_teardown(nobody_waits_for_it, forget),
        cmocka_unit_test_teardown(its_memory, forget),
    };

    alarm(300);
    return cmocka_run_group_tests(tests, setup, teardown);
}
