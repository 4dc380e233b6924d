/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The threads of a child of httpd share the list of connections in use, and the
 * main thread cuts them when the child is stopped. Apps and clients are
 * socketpairs here. */

#include "mod_apppool/backend/in_use.h"

#include <apr_general.h>
#include <apr_portable.h>
#include <fcntl.h>
#include <http_core.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/support/scene.h"

#define THREADS 4
#define ROUNDS  300

static apr_pool_t *pool;
static apr_socket_t *client_socket; /* of all connections */
static uint32_t begun;

apr_socket_t *ap_get_conn_socket(conn_rec *c)
{
    (void)c;
    return client_socket;
}

static conn_rec client;
static const request_rec request = {.connection = &client};

typedef struct {
    int ends[2]; /* ours, the other one */
} pair_t;

static pair_t make_pair(void)
{
    pair_t pair;

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair.ends), 0);
    return pair;
}

static void close_pair(pair_t pair)
{
    close(pair.ends[0]);
    close(pair.ends[1]);
}

/* Both ends see that. */
static int is_cut(pair_t pair)
{
    struct pollfd ours = {pair.ends[0], POLLIN, 0};
    char byte;

    return poll(&ours, 1, 0) == 1 && ours.revents & POLLHUP &&
           recv(pair.ends[1], &byte, 1, MSG_DONTWAIT) == 0;
}

static int begin_child(void **state)
{
    (void)state;
    apppool_in_use_init(pool);
    return 0;
}

static void a_stop_before_the_child_has_begun(void **state)
{
    (void)state;
    apppool_in_use_stop();
}

/* Whichever of three ends first, second or last. */
static void those_in_use_are_cut(void **state)
{
    apppool_in_use_t uses[3];
    pair_t apps[3];
    int gone, i;

    for (gone = 0; gone < 3; gone++) {
        begin_child(state);
        for (i = 0; i < 3; i++) {
            apps[i] = make_pair();
            apppool_in_use_begin(&uses[i], apps[i].ends[0]);
        }
        apppool_in_use_end(&uses[gone]);
        apppool_in_use_end(&uses[gone]);
        apppool_in_use_stop();
        for (i = 0; i < 3; i++) {
            assert_int_equal(is_cut(apps[i]), i != gone);
            if (i != gone)
                apppool_in_use_end(&uses[i]);
            close_pair(apps[i]);
        }
    }
}

static void one_that_comes_later_is_cut(void **state)
{
    apppool_in_use_t use;
    pair_t app = make_pair();

    (void)state;
    apppool_in_use_stop();
    apppool_in_use_begin(&use, app.ends[0]);
    assert_true(is_cut(app));
    apppool_in_use_end(&use);
    close_pair(app);
}

/* mod_proxy closes its descriptor, and another file gets the number. */
static void a_number_that_is_used_again(void **state)
{
    apppool_in_use_t use;
    pair_t app = make_pair(), other = make_pair();
    char byte;

    (void)state;
    apppool_in_use_begin_tunnel(&use, app.ends[0], &request);
    assert_int_equal(dup2(other.ends[0], app.ends[0]), app.ends[0]);
    apppool_in_use_stop();
    assert_false(is_cut(other));
    assert_int_equal(recv(app.ends[1], &byte, 1, MSG_DONTWAIT), 0);
    apppool_in_use_end(&use);
    close_pair(app);
    close_pair(other);
}

/* httpd closes its descriptor of the client first. */
static void client_of_a_tunnel_is_cut(void **state)
{
    apppool_in_use_t use;
    pair_t app = make_pair(), other = make_pair();
    int watched = dup(other.ends[0]);
    struct pollfd end = {watched, POLLIN, 0};

    (void)state;
    apr_os_sock_put(&client_socket, &other.ends[0], pool);
    apppool_in_use_begin_tunnel(&use, app.ends[0], &request);
    close(other.ends[0]);
    assert_int_equal(poll(&end, 1, 0), 0);
    apppool_in_use_stop();
    assert_int_equal(poll(&end, 1, 0), 1);
    assert_true(end.revents & POLLHUP);
    apppool_in_use_end(&use);
    assert_int_equal(fcntl(use.client, F_GETFD), -1);
    close(watched);
    close(other.ends[1]);
    close_pair(app);
}

/* Neither has a socket. */
static void a_stream_is_no_client(void **state)
{
    conn_rec stream = {.master = &client};
    request_rec of_stream = {.connection = &stream};
    apppool_in_use_t use;
    pair_t app = make_pair();

    (void)state;
    apppool_in_use_begin_tunnel(&use, app.ends[0], &of_stream);
    assert_int_equal(use.client, -1);
    apppool_in_use_end(&use);
    client_socket = NULL;
    apppool_in_use_begin_tunnel(&use, app.ends[0], &request);
    assert_int_equal(use.client, -1);
    apppool_in_use_end(&use);
    close_pair(app);
}

/* Requests, and a last one that waits for its app. */
static void *serve(void *unused)
{
    apppool_in_use_t use;
    pair_t app = make_pair();
    char byte;
    int i;

    for (i = 0; i < ROUNDS; i++) {
        apppool_in_use_begin(&use, app.ends[0]);
        apppool_in_use_end(&use);
    }
    __atomic_add_fetch(&begun, 1, __ATOMIC_RELAXED);
    apppool_in_use_begin(&use, app.ends[0]);
    assert_int_equal(recv(app.ends[0], &byte, 1, 0), 0);
    apppool_in_use_end(&use);
    close_pair(app);
    return unused;
}

static void no_thread_waits(void **state)
{
    pthread_t threads[THREADS];
    int i;

    (void)state;
    for (i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, serve, NULL), 0);
    while (__atomic_load_n(&begun, __ATOMIC_RELAXED) == 0)
        usleep(100);
    apppool_in_use_stop();
    for (i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stop_before_the_child_has_begun),
        cmocka_unit_test(those_in_use_are_cut),
        cmocka_unit_test_setup(one_that_comes_later_is_cut, begin_child),
        cmocka_unit_test_setup(a_number_that_is_used_again, begin_child),
        cmocka_unit_test_setup(client_of_a_tunnel_is_cut, begin_child),
        cmocka_unit_test_setup(a_stream_is_no_client, begin_child),
        cmocka_unit_test_setup(no_thread_waits, begin_child),
    };

    apr_initialize();
    apr_pool_create(&pool, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
