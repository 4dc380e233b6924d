/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The pump with real sockets, and with a model of httpd's MPM: workers that add
 * links, wait for their eventfd or come before it, and close their sockets at
 * once, so that other workers get the same numbers. Each child is one pump. */

#include "mod_apppool/pump/pump.h"

#include <apr_general.h>
#include <apr_thread_proc.h>
#include <httpd.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/support/scene.h"

#define WORKERS 4
#define LINKS   200 /* that each worker adds */
#define MOST    600 /* bytes of a client */
#define PIECE   64
#define LIMIT   240000 /* ms; many tests run at once */
#define LATER   ((int64_t)3600 * 1000000)

enum { A_WORKER, THE_PUMP, NOBODY };

typedef struct {
    int owner;
    int client, app;         /* the other ends */
    unsigned int sent, seen; /* bytes of the client */
    int is_told;             /* that the child ends */
    apppool_link_t *link;
    apppool_link_t set;
} line_t;

static int is_left; /* the pump was told to leave */
static unsigned int ends[APPPOOL_LINK_STOPPED + 1];

/* Memory that the pump has freed holds nothing that could still be used. */
void __real_free(void *memory);
void __wrap_free(void *memory);

void __wrap_free(void *memory)
{
    if (memory)
        memset(memory, 0xa5, malloc_usable_size(memory));
    __real_free(memory);
}

/* Each look at a fast clock takes 50 ms, so the pump always looks at all clocks,
 * and what is given when the child ends comes late. */
static int is_fast, looks;
int __real_clock_gettime(clockid_t clock, struct timespec *time);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time);

int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
    int rv = __real_clock_gettime(clock, time), n;

    if (is_fast) {
        n = __atomic_add_fetch(&looks, 1, __ATOMIC_RELAXED);
        time->tv_sec += n / 20;
    }
    return rv;
}

#ifndef ap_thread_create /* it is httpd's own */
apr_status_t ap_thread_create(apr_thread_t **thread, apr_threadattr_t *attr,
                              apr_thread_start_t run, void *data,
                              apr_pool_t *pool)
{
    return apr_thread_create(thread, attr, run, data, pool);
}
#endif

static void want_at(int holds, int line)
{
    if (holds)
        return;
    fprintf(stderr, "# line %d does not hold\n", line);
    abort();
}
#define want(holds) want_at(holds, __LINE__)

static int owner_of(const line_t *line)
{
    return __atomic_load_n(&line->owner, __ATOMIC_RELAXED);
}

static void pass_to(line_t *line, int owner)
{
    __atomic_store_n(&line->owner, owner, __ATOMIC_RELAXED);
}

/* ---- the pump's part ---- */

static apppool_step_t move(line_t *line, int stops)
{
    char piece[PIECE];
    ssize_t n;

    __atomic_store_n(&line->is_told, stops, __ATOMIC_RELAXED);
    if (stops)
        return APPPOOL_STEP_ENDS;
    n = recv(line->set.client, piece, sizeof piece, MSG_DONTWAIT);
    if (n < 0) {
        want(errno == EAGAIN);
        return APPPOOL_STEP_WAITS;
    }
    if (n == 0)
        return APPPOOL_STEP_ENDS;
    want(send(line->set.app, piece, (size_t)n, MSG_DONTWAIT) == n);
    line->seen += (unsigned int)n;
    return APPPOOL_STEP_AGAIN;
}

/* No worker may have the link before the end of the step. */
static apppool_step_t step(apppool_link_t *link, int stops)
{
    line_t *line = link->ctx;
    apppool_step_t said;

    want(owner_of(line) == THE_PUMP);
    said = move(line, stops);
    sched_yield();
    want(owner_of(line) == THE_PUMP);
    return said;
}

/* ---- the workers' part ---- */

static int is_chosen(unsigned int *seed)
{
    return seed && rand_r(seed) % 50 == 0;
}

/* @param seed NULL: the clock ends nothing, and calls no worker */
static void plug(line_t *line, unsigned int *seed)
{
    int client[2], app[2];

    want(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, client) == 0);
    want(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, app) == 0);
    *line = (line_t){.client = client[0], .app = app[0]};
    line->set = (apppool_link_t){.client = client[1],
                                 .app = app[1],
                                 .wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
                                 .silence = is_chosen(seed) ? 1 : -1,
                                 .renewal = is_chosen(seed) ? 1 : LATER,
                                 .step = step,
                                 .ctx = line};
    want(line->set.wake >= 0);
    line->link = apppool_pump_add(&line->set);
    want(line->link != NULL);
}

static void unplug(line_t *line)
{
    apppool_pump_remove(line->link);
    pass_to(line, NOBODY);
    close(line->set.client);
    close(line->set.app);
    close(line->set.wake);
    close(line->client);
    close(line->app);
}

static void give(line_t *line)
{
    pass_to(line, THE_PUMP);
    apppool_pump_give(line->link);
}

static apppool_link_why_t take(line_t *line)
{
    apppool_pump_take(line->link);
    want(owner_of(line) == THE_PUMP);
    pass_to(line, A_WORKER);
    return line->link->why;
}

/* The client sends something, and ends. */
static void speak(line_t *line, unsigned int *seed)
{
    static const char text[MOST];
    unsigned int n = (unsigned int)rand_r(seed) % MOST, part;

    while (line->sent < n) {
        part = (unsigned int)rand_r(seed) % (n - line->sent) + 1;
        want(send(line->client, text, part, MSG_NOSIGNAL) == (ssize_t)part);
        line->sent += part;
        sched_yield();
    }
    if (line->set.silence < 0)
        shutdown(line->client, SHUT_WR);
}

/* As event waits: for the eventfd, and not only for what is new there. */
static void wait_for_pump(const line_t *line)
{
    struct pollfd wake = {line->set.wake, POLLIN, 0};

    want(poll(&wake, 1, LIMIT) == 1);
}

static void check_bytes(const line_t *line)
{
    char bytes[MOST + 1];
    ssize_t n = recv(line->app, bytes, sizeof bytes, MSG_DONTWAIT);

    want(line->seen == line->sent && (n < 0 ? 0 : n) == (ssize_t)line->sent);
}

/* It must not touch what a worker has. */
static void tempt_pump(const line_t *line)
{
    if (line->set.silence < 0)
        shutdown(line->app, SHUT_RDWR);
    usleep(100);
}

/* From its beginning to its end. */
static void serve(line_t *line, unsigned int *seed)
{
    apppool_link_why_t why;
    int comes_early = rand_r(seed) % 4 == 0;
    int speaks_first = rand_r(seed) % 2 == 0;

    plug(line, seed);
    if (speaks_first)
        speak(line, seed);
    give(line);
    if (!speaks_first)
        speak(line, seed);
    do {
        if (!comes_early)
            wait_for_pump(line);
        why = take(line);
        if (why == APPPOOL_LINK_RENEWED && !comes_early)
            give(line);
    } while (why == APPPOOL_LINK_RENEWED && !comes_early);
    if (why == APPPOOL_LINK_ENDED)
        check_bytes(line);
    want(why != APPPOOL_LINK_SILENT || line->set.silence > 0);
    want(why != APPPOOL_LINK_STOPPED ||
         (__atomic_load_n(&is_left, __ATOMIC_ACQUIRE) && line->is_told));
    if (comes_early)
        tempt_pump(line);
    __atomic_add_fetch(&ends[why], 1, __ATOMIC_RELAXED);
    unplug(line);
}

static void *work(void *number)
{
    unsigned int seed = (unsigned int)(uintptr_t)number;
    line_t *line;
    int i;

    for (i = 0; i < LINKS && apppool_pump_reserve(); i++) {
        line = malloc(sizeof *line);
        want(line != NULL);
        serve(line, &seed);
        free(line);
        apppool_pump_unreserve();
    }
    return NULL;
}

/* ---- a child of httpd ---- */

static line_t left[WORKERS];

static void end(apppool_link_t *link)
{
    line_t *line = link->ctx;

    want(take(line) == APPPOOL_LINK_STOPPED && line->is_told);
    ends[APPPOOL_LINK_STOPPED]++;
    unplug(line);
}

/* @param stop_at links that have ended when the child is to stop; it stops in
 * any case with some that no worker comes for */
static void run_child(unsigned int seed, unsigned int stop_at)
{
    pthread_t workers[WORKERS];
    apr_pool_t *pool;
    uintptr_t i;

    apr_initialize();
    apr_pool_create(&pool, NULL);
    want(apppool_pump_begin(pool, WORKERS) == APR_SUCCESS);
    for (i = 0; i < WORKERS; i++)
        want(pthread_create(&workers[i], NULL, work,
                            (void *)(seed * WORKERS + i)) == 0);
    while (__atomic_load_n(&ends[APPPOOL_LINK_ENDED], __ATOMIC_RELAXED) <
           stop_at)
        usleep(1000);
    __atomic_store_n(&is_left, 1, __ATOMIC_RELEASE);
    for (i = 0; i < WORKERS; i++) {
        if (i == WORKERS / 2)
            apppool_pump_leave(1);
        plug(&left[i], NULL);
        give(&left[i]);
    }
    for (i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    for (i = 0; i < WORKERS; i++)
        wait_for_pump(&left[i]);
    want(apppool_pump_reserve());
    apppool_pump_end(end);
    want(ends[APPPOOL_LINK_ENDED] >= stop_at);
    want(ends[APPPOOL_LINK_STOPPED] >= WORKERS);
    apr_pool_destroy(pool);
}

/* Its workers have ended, or serve nobody any more. */
static void run_alone(unsigned int seed, unsigned int stop_at)
{
    line_t *line = &left[0];
    struct pollfd wake;
    apr_pool_t *pool;

    (void)seed;
    apr_initialize();
    apr_pool_create(&pool, NULL);
    want(apppool_pump_begin(pool, 1) == APR_SUCCESS);
    plug(line, NULL);
    give(line);
    apppool_pump_leave(0);
    while (!__atomic_load_n(&line->is_told, __ATOMIC_RELAXED))
        usleep(1000);
    want(apppool_pump_has_left()); /* the step has ended, too */
    wake = (struct pollfd){line->set.wake, POLLIN, 0};
    want(poll(&wake, 1, 0) == 0);
    apppool_pump_end(end);
    want(ends[APPPOOL_LINK_STOPPED] == stop_at);
    apr_pool_destroy(pool);
}

static void in_child(void (*run)(unsigned int, unsigned int), unsigned int seed,
                     unsigned int stop_at)
{
    int status;
    pid_t pid;

    fflush(NULL);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        alarm(LIMIT / 1000);
        run(seed, stop_at);
        exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

/* All that the clients send arrives, no step runs on what a worker has, and none
 * after the end. */
static void test_workers_and_pump(void **state)
{
    (void)state;
    in_child(run_child, 1, WORKERS * LINKS / 2);
}

static void test_stop_at_any_time(void **state)
{
    unsigned int seed;

    (void)state;
    for (seed = 2; seed < 12; seed++)
        in_child(run_child, seed, seed * seed * seed % 50);
}

static void test_no_worker_is_asked(void **state)
{
    (void)state;
    in_child(run_alone, 1, 1);
}

/* A link that is given to the pump long after the child began to end says
 * goodbye, too. */
static void test_late_links(void **state)
{
    unsigned int seed;

    (void)state;
    is_fast = 1;
    for (seed = 12; seed < 16; seed++)
        in_child(run_child, seed, 0);
    is_fast = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_workers_and_pump),
        cmocka_unit_test(test_stop_at_any_time),
        cmocka_unit_test(test_late_links),
        cmocka_unit_test(test_no_worker_is_asked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
