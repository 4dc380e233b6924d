/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* A snapshot shows one instant, which is not inside a verb. */

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "shm/verbs/enter.h"
#include "shm/lock/lock.h"
#include "shm/view/snapshot.h"
#include "tests/unit/support/memory.h"
#include "tests/unit/support/repeats.h"
#include "tests/unit/support/scene.h"

static void a_snapshot_waits_for_the_lock_holder(void **state)
{
    scene_t *s = scene_new(1);
    uint32_t before = s->pool.header->sequence;
    apl_pool_t *copy;
    apl_lock_token_t token;

    (void)state;
    assert_int_equal(before % 2, 0);
    assert_int_equal(apl_enter(&token, &s->pool, s->now, APL_FOREVER),
                     APR_SUCCESS);
    assert_int_equal(s->pool.header->sequence, before + 1);
    /* This is in vain: this thread has the lock. */
    assert_int_equal(apl_snapshot_take(&copy, &s->pool, memory), APL_ELOCK);
    apl_leave(&token);
    assert_int_equal(s->pool.header->sequence, before + 2);
    assert_int_equal(apl_snapshot_take(&copy, &s->pool, memory), APR_SUCCESS);
    scene_end(s);
}

/* The linker wraps nanosleep(). */
static int is_sleepless;
static int stays;        /* pauses of the reader, while a process is inside */
static uint32_t *inside; /* the sequence number */

int __real_nanosleep(const struct timespec *t, struct timespec *left);
int __wrap_nanosleep(const struct timespec *t, struct timespec *left);

int __wrap_nanosleep(const struct timespec *t, struct timespec *left)
{
    if (stays > 0 && --stays == 0)
        __atomic_add_fetch(inside, 1, __ATOMIC_RELEASE);
    return is_sleepless ? 0 : __real_nanosleep(t, left);
}

/* The loop of the spawner must not wait for it each time. On a loaded machine,
 * thousands of short sleeps would take as long as the waits. */
static void only_one_look_waits_for_the_lock(void **state)
{
    scene_t *s = scene_new(1);
    int64_t begin = apl_now();
    apl_pool_t *copy;
    int i;

    (void)state;
    s->pool.header->lock = 1; /* a thread that is always there */
    s->pool.header->sequence |= 1;
    is_sleepless = 1;
    for (i = 0; i < 60; i++) /* a minute, were it for each of them */
        assert_int_equal(apl_snapshot_take(&copy, &s->pool, memory), APL_ELOCK);
    is_sleepless = 0;
    assert_in_range(apl_now() - begin, 0, 30 * SECOND);
    scene_drop(s);
}

typedef struct {
    scene_t *s;
    int done;
} writer_t;

/* Change the first and the last word of the segment together. Between two
 * changes there is time for a copy, or for a part of it. */
static void *write_both(void *arg)
{
    writer_t *w = arg;
    apl_pool_t *pool = &w->s->pool;
    uint32_t n = 0;
    volatile uint32_t pause;

    while (!__atomic_load_n(&w->done, __ATOMIC_RELAXED)) {
        apl_lock_token_t token;

        if (apl_enter(&token, pool, w->s->now, APL_FOREVER) != APR_SUCCESS)
            break;
        pool->header->counters.gone = ++n;
        APL_CRASH_POINT("test_first");
        pool->children[1].config = n;
        apl_leave(&token);
        for (pause = n * 2654435761u >> 18; pause > 0;)
            pause--;
    }
    return NULL;
}

static void what_changes_meanwhile_is_copied_again(void **state)
{
    scene_t *s = scene_new(1);
    writer_t w = {.s = s};
    pthread_t thread;
    apr_pool_t *mine;
    apl_pool_t *copy;
    unsigned i, n = 0;

    (void)state;
    s->pool.header->counters.gone = s->pool.children[1].config;
    pthread_create(&thread, NULL, write_both, &w);
    for (i = 0; i < repeats(3000); i++) {
        apr_pool_create(&mine, memory);
        if (apl_snapshot_take(&copy, &s->pool, mine) == APR_SUCCESS) {
            assert_int_equal(copy->header->counters.gone,
                             copy->children[1].config);
            n++;
        }
        apr_pool_destroy(mine);
    }
    __atomic_store_n(&w.done, 1, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    assert_true(n > 0);
    scene_end(s);
}

/* The reader enters only if that does not end. */
static void a_snapshot_takes_no_lock(void **state)
{
    scene_t *s = scene_new(1);
    uint32_t before = s->pool.header->sequence;
    apl_pool_t *copy;

    (void)state;
    stays = 100; /* that is long: they pause for longer than it takes */
    inside = &s->pool.header->sequence;
    ++*inside;
    assert_int_equal(apl_snapshot_take(&copy, &s->pool, memory), APR_SUCCESS);
    assert_int_equal(stays, 0);
    assert_int_equal(*inside, before + 2);
    scene_drop(s);
}

/* A process that has the lock, and is stopped. */
static pid_t stopped_owner(const scene_t *s)
{
    pid_t pid = fork();
    int died, status;

    assert_true(pid >= 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (apl_lock_take(&s->pool.header->lock, APL_FOREVER, &died) ==
            APR_SUCCESS)
            raise(SIGSTOP);
        _exit(1);
    }
    assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
    assert_true(WIFSTOPPED(status));
    return pid;
}

/* So a snapshot does not take the lock, and a stopped reader blocks no other
 * process: it cannot write to the segment, so it has nothing for which others
 * wait. */
static void a_snapshot_writes_nothing(void **state)
{
    scene_t *s = scene_new(3);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h[3];
    apl_pool_t *copy;
    pid_t owner, reader;
    int i, status;

    (void)state;
    for (i = 0; i < 3; i++)
        assert_int_equal(scene_get(s, &h[i], a), APR_SUCCESS);
    owner = stopped_owner(s);
    reader = fork();
    if (reader == 0) {
        mprotect(s->pool.base, s->pool.size, PROT_READ);
        _exit(apl_snapshot_take(&copy, &s->pool, memory) == APR_SUCCESS &&
                      copy->header->active == 3
                  ? 0
                  : 1);
    }
    assert_int_equal(waitpid(reader, &status, 0), reader);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    kill(owner, SIGKILL);
    assert_int_equal(waitpid(owner, &status, 0), owner);
    scene_drop(s);
}

static void set_texts(scene_t *s, const apl_session_ref_t *h, const char *uri)
{
    apl_session_t *session = &s->pool.sessions[h->session];

    memset(session->method, 'M', sizeof session->method);
    memset(session->client, 'C', sizeof session->client);
    snprintf(session->uri, sizeof session->uri, "%s", uri);
}

static void texts_are_copied_and_end(void **state)
{
    scene_t *s = scene_new(1);
    apl_session_ref_t h;
    apl_pool_t *copy;
    const apl_session_t *is;

    (void)state;
    assert_int_equal(scene_get(s, &h, scene_app(s, "a")), APR_SUCCESS);
    set_texts(s, &h, "/one");
    assert_int_equal(apl_snapshot_take(&copy, &s->pool, memory), APR_SUCCESS);
    is = &copy->sessions[h.session];
    assert_string_equal(is->uri, "/one");
    assert_string_equal(is->method, "MMMMMMMMMMMMMMM");
    assert_int_equal(strlen(is->client), sizeof is->client - 1);
    assert_int_equal(is->id, h.id);
    scene_close(s, &h);
    assert_int_equal(apl_snapshot_take(&copy, &s->pool, memory), APR_SUCCESS);
    assert_string_equal(copy->sessions[h.session].uri, "");
    scene_drop(s);
}

/* As the spawner does: it tries, and gets the result. */
static void a_try_does_not_wait(void **state)
{
    scene_t *s = scene_new(1);
    apl_snapshot_t snapshot;
    apl_session_ref_t h;
    apr_status_t rv;

    (void)state;
    assert_int_equal(scene_get(s, &h, scene_app(s, "a")), APR_SUCCESS);
    set_texts(s, &h, "/one");
    assert_int_equal(apl_snapshot_prepare(&snapshot, &s->pool, memory),
                     APR_SUCCESS);
    while ((rv = apl_snapshot_try(&snapshot, 0)) == APR_INCOMPLETE)
        ;
    assert_int_equal(rv, APR_SUCCESS);
    assert_int_equal(snapshot.copy->header->active, 1);
    assert_int_equal(snapshot.copy->sessions[h.session].ticket,
                     s->pool.sessions[h.session].ticket);
    assert_string_equal(snapshot.copy->sessions[h.session].uri, "");
    s->pool.header->sequence++;
    assert_int_equal(apl_snapshot_try(&snapshot, 0), APR_EAGAIN);
    scene_close(s, &h);
    assert_int_equal(apl_snapshot_try(&snapshot, 0), APR_SUCCESS);
    assert_int_equal(snapshot.copy->header->active, 0);
    scene_drop(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_snapshot_waits_for_the_lock_holder),
        cmocka_unit_test(only_one_look_waits_for_the_lock),
        cmocka_unit_test(what_changes_meanwhile_is_copied_again),
        cmocka_unit_test(a_snapshot_takes_no_lock),
        cmocka_unit_test(a_snapshot_writes_nothing),
        cmocka_unit_test(texts_are_copied_and_end),
        cmocka_unit_test(a_try_does_not_wait),
    };

    return cmocka_run_group_tests(tests, memory_begin, memory_end);
}
