/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* A child of the control socket makes a response that takes long, once for all
 * clients that wait for it. */

#include <apr_general.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spawner/control/control.h"
#include "spawner/process/job.h"
#include "tests/unit/support/forks.h"
#include "tests/unit/support/scene.h"
#include "tests/unit/support/scratch.h"

#define LARGE (1 << 20) /* more than a pipe or a socket holds */

static scene_t *scene;

static int begin_all(void **state)
{
    spawner_t *s = scratch_begin();

    (void)state;
    scene = scene_new(2);
    s->shm = scene->pool;
    s->table = apr_pcalloc(s->pool, sizeof *s->table);
    if (loop_open() != 0)
        return 1;
    control_begin(s);
    return 0;
}

static int end_all(void **state)
{
    scene_drop(scene);
    return scratch_end(state);
}

static int setup(void **state)
{
    (void)state;
    memset(&forks, 0, sizeof forks);
    state_spawner()->now += SECOND;
    return 0;
}

/* ---- as the spawner's loop does ---- */

static void turn(void)
{
    loop_wait(0);
    loop_call();
    control_tick(state_spawner());
}

/* It has sent its command, but no child has started since. */
static int client(const char *question)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(at.sun_path, sizeof at.sun_path, "%s/%s", state_spawner()->rt.dir,
             CONTRACT_CONTROL);
    assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof at), 0);
    loop_wait(0);
    loop_call();
    assert_int_equal(send(fd, question, strlen(question), 0),
                     (ssize_t)strlen(question));
    loop_wait(0);
    loop_call();
    return fd;
}

/* Nothing came yet, and the connection is open. */
static void waits(int fd)
{
    char c;

    assert_int_equal(recv(fd, &c, 1, MSG_DONTWAIT), -1);
    assert_int_equal(errno, EAGAIN);
}

/* The connection has then ended. */
static void gets(int fd, const char *what)
{
    static char text[1 << 16];
    size_t length = 0;
    ssize_t n;

    while ((n = recv(fd, text + length, sizeof text - 1 - length,
                     MSG_DONTWAIT)) > 0) {
        length += (size_t)n;
        turn();
    }
    assert_int_equal(n, 0);
    text[length] = 0;
    assert_non_null(strstr(text, what));
    close(fd);
}

/* ---- clients ---- */

static void one_response_for_all(void **state)
{
    int i, fd[3];

    (void)state;
    for (i = 0; i < 3; i++)
        fd[i] = client("status\n");
    turn();
    assert_int_equal(forks.tried, 1);
    for (i = 0; i < 3; i++)
        waits(fd[i]);
    scratch_reap(forks.child);
    for (i = 0; i < 3; i++)
        gets(fd[i], "\"pool\"");
    turn();
    assert_int_equal(forks.tried, 1);
}

/* Its response must contain what was done before. */
static void a_later_question_waits_for_the_next(void **state)
{
    int first = client("status\n"), later;

    (void)state;
    turn();
    later = client("status\n");
    turn();
    assert_int_equal(forks.tried, 1);
    scratch_reap(forks.child);
    gets(first, "\"pool\"");
    waits(later);
    turn();
    assert_int_equal(forks.tried, 1); /* there is a pause */
    assert_true(state_spawner()->wake <= state_spawner()->now + SECOND / 20);
    state_spawner()->now += SECOND;
    turn();
    assert_int_equal(forks.tried, 2);
    scratch_reap(forks.child);
    gets(later, "\"pool\"");
}

static void two_kinds(void **state)
{
    int status = client("status\n"), check;

    (void)state;
    state_spawner()->now++;
    check = client("check\n");
    turn();
    scratch_reap(forks.child);
    gets(status, "\"pool\"");
    waits(check);
    state_spawner()->now += SECOND;
    turn();
    scratch_reap(forks.child);
    gets(check, "\"ok\": true");
    assert_int_equal(forks.tried, 2);
}

static void others_get_responses_meanwhile(void **state)
{
    int fd = client("status\n");

    (void)state;
    turn();
    gets(client("nothing\n"), "there is no such command");
    waits(fd);
    scratch_reap(forks.child);
    gets(fd, "\"pool\"");
}

/* It is stopped before it can do anything, and killed. */
static void a_client_and_a_child_that_fails(void **state)
{
    int fd = client("status\n");

    (void)state;
    forks.stopped = 1;
    turn();
    waits(fd);
    kill(forks.child, SIGKILL);
    scratch_reap(forks.child);
    gets(fd, "the response could not be made");
}

static void no_child(void **state)
{
    int fd = client("status\n");

    (void)state;
    forks.refused = 1;
    turn();
    gets(fd, "the response could not be made");
}

static void a_client_that_hangs_up(void **state)
{
    int fd = client("status\n");

    (void)state;
    close(fd);
    turn();
    assert_int_equal(forks.tried, 0);
    fd = client("status\n");
    turn();
    close(fd);
    turn();
    scratch_reap(forks.child);
    turn();
    assert_int_equal(forks.tried, 1);
}

/* ---- the child ---- */

static json_t *make_large(spawner_t *s, const status_job_order_t *order)
{
    char *text = malloc(LARGE);

    (void)s;
    (void)order;
    memset(text, 'x', LARGE);
    return json_pack("{s:s%}", "large", text, (size_t)LARGE);
}

static json_t *make_nothing(spawner_t *s, const status_job_order_t *order)
{
    (void)s;
    (void)order;
    return NULL;
}

static _Noreturn json_t *make_no_end(spawner_t *s,
                                     const status_job_order_t *order)
{
    (void)s;
    (void)order;
    for (;;)
        pause();
}

static size_t made_size;
static int n_made;

static void made(spawner_t *s, const char *text, size_t size)
{
    (void)s;
    n_made++;
    made_size = text ? size : 0;
}

static int begin(status_job_make_t *make)
{
    const status_job_order_t order = {.make = make};

    return status_job_begin(state_spawner(), &order, made);
}

static void any_size(void **state)
{
    (void)state;
    assert_int_equal(begin(make_large), 1);
    assert_int_equal(begin(make_large), 0);
    scratch_reap(forks.child);
    assert_true(made_size > LARGE);
}

static void no_response(void **state)
{
    (void)state;
    n_made = 0;
    assert_int_equal(begin(make_nothing), 1);
    scratch_reap(forks.child);
    assert_int_equal(n_made, 1);
    assert_int_equal(made_size, 0);
}

static void a_limit(void **state)
{
    (void)state;
    n_made = 0;
    assert_int_equal(begin(make_no_end), 1);
    state_spawner()->now += STATUS_JOB_LIMIT;
    job_tick(state_spawner());
    scratch_reap(forks.child);
    assert_int_equal(n_made, 1);
    assert_int_equal(made_size, 0);
    /* The pause is as long as it took. */
    state_spawner()->now += STATUS_JOB_LIMIT - 1;
    assert_int_equal(begin(make_nothing), 0);
    state_spawner()->now++;
    assert_int_equal(begin(make_nothing), 1);
    scratch_reap(forks.child);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(one_response_for_all, setup),
        cmocka_unit_test_setup(a_later_question_waits_for_the_next, setup),
        cmocka_unit_test_setup(two_kinds, setup),
        cmocka_unit_test_setup(others_get_responses_meanwhile, setup),
        cmocka_unit_test_setup(a_client_and_a_child_that_fails, setup),
        cmocka_unit_test_setup(no_child, setup),
        cmocka_unit_test_setup(a_client_that_hangs_up, setup),
        cmocka_unit_test_setup(any_size, setup),
        cmocka_unit_test_setup(no_response, setup),
        cmocka_unit_test_setup(a_limit, setup),
    };

    return cmocka_run_group_tests(tests, begin_all, end_all);
}
