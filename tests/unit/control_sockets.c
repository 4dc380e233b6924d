/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The control sockets of a spawner that cannot make them at once. A directory at
 * the path of a socket is in the way of bind(2). */

#include "spawner/control/control.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/support/scene.h"
#include "tests/unit/support/scratch.h"

#define USER_UID 12345
#define USER     CONTRACT_USERS "/12345"

static mode_t type_of(const char *name)
{
    struct stat st;

    return fstatat(state_spawner()->rt.fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0
               ? st.st_mode & S_IFMT
               : 0;
}

/* One turn of the loop, some time after the last one.
 * @return the time until the next one, at most one second */
static int64_t tick(int64_t later)
{
    spawner_t *s = state_spawner();

    s->now += later;
    s->wake = s->now + SECOND;
    control_tick(s);
    return s->wake - s->now;
}

static int begin_all(void **state)
{
    static app_entry_t apps[2];
    spawner_t *s = scratch_begin();

    (void)state;
    s->table = apr_pcalloc(s->pool, sizeof *s->table);
    s->table->apps = apps;
    return loop_open();
}

static void in_the_way(const char *name)
{
    assert_int_equal(mkdirat(state_spawner()->rt.fd, name, 0700), 0);
}

static void clear(const char *name)
{
    assert_int_equal(unlinkat(state_spawner()->rt.fd, name, AT_REMOVEDIR), 0);
}

static void is_made_when_there_is_room(void **state)
{
    (void)state;
    in_the_way(CONTRACT_CONTROL);
    control_begin(state_spawner());
    assert_int_equal(tick(SECOND / 4), SECOND * 3 / 4);
    assert_int_equal(tick(SECOND), SECOND); /* again in vain */
    clear(CONTRACT_CONTROL);
    tick(SECOND / 2);
    assert_int_equal(type_of(CONTRACT_CONTROL), 0);
    tick(SECOND / 2);
    assert_int_equal(type_of(CONTRACT_CONTROL), S_IFSOCK);
    assert_int_equal(scratch_lines(CONTRACT_CONTROL " cannot be made"), 1);
    assert_int_equal(scratch_lines(CONTRACT_CONTROL " is made"), 1);
}

static void of_the_user_of_two_apps(void **state)
{
    spawner_t *s = state_spawner();

    (void)state;
    if (geteuid() != 0)
        skip();
    in_the_way(CONTRACT_USERS);
    in_the_way(USER);
    s->table->n = 2;
    s->table->apps[0].uid = s->table->apps[1].uid = USER_UID;
    control_configure(s);
    clear(USER);
    tick(SECOND);
    assert_int_equal(type_of(USER), S_IFSOCK);
    assert_int_equal(scratch_lines(USER " cannot be made"), 1);
    assert_int_equal(scratch_lines(USER " is made"), 1);
    s->table->n = 0;
    control_configure(s);
    assert_int_equal(type_of(USER), 0);
}

/* A spawner that stops makes none, and its loop rests. */
static void is_not_made_during_a_stop(void **state)
{
    spawner_t *s = state_spawner();

    (void)state;
    if (geteuid() != 0)
        skip();
    in_the_way(USER);
    s->table->n = 1;
    control_configure(s);
    s->stopping = 1;
    assert_int_equal(tick(10 * SECOND), SECOND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_made_when_there_is_room),
        cmocka_unit_test(of_the_user_of_two_apps),
        cmocka_unit_test(is_not_made_during_a_stop),
    };

    return cmocka_run_group_tests(tests, begin_all, scratch_end);
}
