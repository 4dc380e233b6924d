/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* What people expect of restart.txt and always_restart.txt, whichever child
 * looks at them. */

#include <sys/stat.h>
#include <unistd.h>

#include "shm/slots/group.h"
#include "tests/unit/support/play.h"
#include "tests/unit/support/touch.h"

static play_t *begin(void **state, uint32_t max)
{
    play_t *p = play_begin(state, max);

    p->dir = touch_dir;
    return p;
}

/* One request of each of five callers, one after the other. The same process
 * serves them. @return its id */
static uint64_t serve_all(play_t *p, const apl_app_t *app)
{
    uint64_t id = 0;
    int i;

    for (i = 0; i < 5; i++) {
        uint64_t its = play_get(p, i, app);

        play_close(p, i);
        assert_true(id == 0 || its == id);
        id = its;
    }
    return id;
}

static uint64_t restarts(const play_t *p, const apl_app_t *app)
{
    uint32_t i = apl_group_index(&p->s->pool, app->key, app->name);

    return p->s->pool.groups[i].n_restarts;
}

static void s6_created_while_two_are_idle(void **state)
{
    play_t *p = begin(state, 6);

    play_get(p, 1, p->a);
    play_get(p, 2, p->a);
    play_close(p, 1);
    play_close(p, 2);
    touch("restart.txt", 1000);
    play_get(p, 3, p->a);
    play_close(p, 3);
    play_is(p, 1, 0);
    assert_int_equal(access(touch_path("restart.txt"), F_OK), 0);
    serve_all(p, p->a);
    assert_int_equal(restarts(p, p->a), 1);
    play_end(p);
}

static void s6_there_before_is_nothing_touched_is_once(void **state)
{
    play_t *p = begin(state, 6);
    uint64_t id, next;

    touch("restart.txt", 1000);
    id = serve_all(p, p->a);
    assert_int_equal(restarts(p, p->a), 0);
    touch("restart.txt", 2000);
    next = serve_all(p, p->a);
    assert_true(next != id);
    /* Now the file gets an older time. */
    touch("restart.txt", 500);
    assert_true(serve_all(p, p->a) != next);
    assert_int_equal(restarts(p, p->a), 2);
    play_end(p);
}

static void s6_a_directory_counts(void **state)
{
    play_t *p = begin(state, 6);
    uint64_t id = serve_all(p, p->a);

    assert_int_equal(mkdir(touch_path("restart.txt"), 0755), 0);
    assert_true(serve_all(p, p->a) != id);
    assert_int_equal(restarts(p, p->a), 1);
    play_end(p);
}

/* Each request gets a new process, and there is never more than one. */
static void always(play_t *p)
{
    uint64_t id = 0;
    int i;

    for (i = 0; i < 5; i++) {
        uint64_t next = play_get(p, i, p->a);

        assert_true(next != id);
        play_is(p, 1, 1);
        play_close(p, i);
        id = next;
    }
}

static void s7_always_restart(void **state)
{
    play_t *p = begin(state, 6);

    serve_all(p, p->a);
    touch("always_restart.txt", 1000);
    always(p);
    /* Now both files exist. */
    touch("restart.txt", 1000);
    always(p);
    assert_int_equal(access(touch_path("restart.txt"), F_OK), 0);
    assert_int_equal(access(touch_path("always_restart.txt"), F_OK), 0);
    unlink(touch_path("always_restart.txt"));
    /* The last process has had a request, and stays nevertheless. */
    serve_all(p, p->a);
    play_end(p);
}

static void s7_always_restart_as_a_directory(void **state)
{
    play_t *p = begin(state, 6);

    assert_int_equal(mkdir(touch_path("always_restart.txt"), 0755), 0);
    always(p);
    play_end(p);
}

static void s11_only_its_app_and_once(void **state)
{
    play_t *p = begin(state, 1);
    uint64_t id;

    play_get(p, 1, p->a);
    play_close(p, 1);
    p->dir = NULL; /* B's is another directory */
    id = play_get(p, 2, p->b);
    play_close(p, 2);
    p->dir = touch_dir;
    touch("restart.txt", 1000);
    play_get(p, 3, p->a);
    play_close(p, 3);
    serve_all(p, p->a);
    p->dir = NULL;
    assert_true(play_get(p, 4, p->b) != id); /* it had given way to A */
    play_close(p, 4);
    assert_int_equal(restarts(p, p->a), 1);
    assert_int_equal(restarts(p, p->b), 0);
    play_end(p);
}

int main(void)
{
    static const play_test_t tests[] = {
        PLAY(s6_created_while_two_are_idle),
        PLAY(s6_there_before_is_nothing_touched_is_once),
        PLAY(s6_a_directory_counts),
        PLAY(s7_always_restart),
        PLAY(s7_always_restart_as_a_directory),
        PLAY(s11_only_its_app_and_once),
    };

    return play_all(tests, sizeof tests / sizeof *tests, touch_begin,
                    touch_end);
}
