/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* A process that a template has forked is in the registry and in the segment
 * before it gets "go". If anything fails before that, it gets no "go", and the
 * command is executed. This program also plays the template. */

#include "spawner/start/start.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "system/procfs.h"
#include "spawner/process/fork_order.h"
#include "spawner/report/reports.h"
#include "spawner/process/job.h"
#include "spawner/process/process.h"
#include "tests/unit/support/scene.h"
#include "tests/unit/support/scratch.h"

#define PARTS 4

enum { LISTENER, OUTPUT, GO, REPORT };

static char done[64]; /* what was done, in words */
static int failing;   /* the registry cannot be written to */
static app_entry_t app = {
    .app = {.name = "shop"}, .preload = 1, .start_timeout = 7 * SECOND};
static process_t *t;
static int orders;                    /* the template's end */
static char text[FORK_ORDER_MAX + 1]; /* of the order, as it was taken */
static size_t length;
static int fds[PARTS];

apr_status_t __wrap_apl_supervise_forked(apl_pool_t *pool, uint64_t id,
                                         const apl_start_t *start, int64_t now);
int __wrap_registry_write(uint32_t index, const registry_record_t *record);
int __real_registry_write(uint32_t index, const registry_record_t *record);
ssize_t __wrap_write(int fd, const void *bytes, size_t n);
ssize_t __real_write(int fd, const void *bytes, size_t n);
void __wrap_apl_template_write(apl_pool_t *pool, const char *name,
                               const void *figures);

static void note(const char *word)
{
    strncat(done, word, sizeof done - strlen(done) - 1);
}

apr_status_t __wrap_apl_supervise_forked(apl_pool_t *pool, uint64_t id,
                                         const apl_start_t *start, int64_t now)
{
    (void)pool;
    (void)id;
    (void)now;
    assert_true(start->identity.start > 0 && start->wire.protocol == APL_HTTP);
    note("segment ");
    return APR_SUCCESS;
}

int __wrap_registry_write(uint32_t index, const registry_record_t *record)
{
    if (record->pid == 0)
        return __real_registry_write(index, record);
    if (failing)
        return -1;
    assert_true(record->pid > 1 && record->start > 0 &&
                record->template_id == t->is.id);
    if (!strstr(done, "registry"))
        note("registry ");
    return __real_registry_write(index, record);
}

ssize_t __wrap_write(int fd, const void *bytes, size_t n)
{
    if (n == 1 && *(const char *)bytes == 'g')
        note("go");
    return __real_write(fd, bytes, n);
}

void __wrap_apl_template_write(apl_pool_t *pool, const char *name,
                               const void *figures)
{
    (void)pool;
    (void)name;
    (void)figures;
}

static int begin(void **state)
{
    static app_table_t table = {.apps = &app, .n = 1};
    spawner_t *s = scratch_begin();

    (void)state;
    table.by_name = apr_hash_make(s->pool);
    apr_hash_set(table.by_name, "shop", APR_HASH_KEY_STRING, &app);
    s->table = &table;
    s->rt.uid = geteuid();
    s->rt.gid = getegid();
    strcpy(s->instance, "00112233445566ff");
    return loop_open() != 0 || registry_open(s->rt.fd) != 0 ||
           process_files_prepare(&s->rt) != 0 ||
           prctl(PR_SET_CHILD_SUBREAPER, 1) != 0;
}

static int begin_one(void **state)
{
    spawner_t *s = state_spawner();
    int ends[2];

    (void)state;
    failing = done[0] = 0;
    template_failure_row_ends("shop");
    assert_non_null(t = process_new(s, 0x1230000, "shop"));
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
    t->is.kind = REGISTRY_TEMPLATE;
    t->is.uid = geteuid();
    t->is.gid = getegid();
    t->is.wire.protocol = APL_HTTP;
    t->is.wire.concurrency = 1;
    t->start.command = strdup("serve");
    strcpy(t->start.user, "www");
    t->template.orders = ends[0];
    t->phase = PHASE_LIVE;
    orders = ends[1];
    return 0;
}

static int end_one(void **state)
{
    process_t *p;

    close(orders);
    while (waitpid(-1, NULL, 0) > 0)
        ;
    for (p = state_spawner()->processes; p; p = p->next) {
        fork_start_clear(state_spawner(), p);
        process_files_remove(&state_spawner()->rt, p->is.id);
    }
    return scratch_forget(state);
}

static process_t *order(void)
{
    process_t *p = process_new(state_spawner(), 0x4560001, "shop");

    assert_non_null(p);
    p->is.wire.listen = APL_LISTEN_FD;
    p->forking.state = FORKING_WAITS;
    fork_start_order(state_spawner(), p, t);
    return p;
}

/* As a template receives it. */
static process_t *taken_order(void)
{
    process_t *p = order();
    union {
        char bytes[CMSG_SPACE(PARTS * sizeof(int))];
        struct cmsghdr align;
    } control;
    struct msghdr m = {.msg_iov = &(struct iovec){text, FORK_ORDER_MAX},
                       .msg_iovlen = 1,
                       .msg_control = control.bytes,
                       .msg_controllen = sizeof control.bytes};
    ssize_t n = recvmsg(orders, &m, MSG_DONTWAIT);
    const struct cmsghdr *c = CMSG_FIRSTHDR(&m);

    assert_true(n > 0);
    assert_non_null(c);
    assert_int_equal(c->cmsg_len, CMSG_LEN(PARTS * sizeof(int)));
    memcpy(fds, CMSG_DATA(c), sizeof fds);
    text[n] = 0;
    length = (size_t)n;
    return p;
}

static void close_all(void)
{
    int i;

    for (i = 0; i < PARTS; i++)
        close(fds[i]);
}

/* The forked process: it exits with 0 after "g", else with 1. */
static pid_t fork_one(void)
{
    char hello[16], go = 0;
    pid_t pid = fork();

    if (pid > 0)
        return pid;
    /* Only the spawner has the other end. */
    close(process_find(state_spawner(), 0x4560001)->forking.go);
    setsid();
    snprintf(hello, sizeof hello, "%d\n", (int)getpid());
    _exit(__real_write(fds[REPORT], hello, strlen(hello)) < 0 ||
          read(fds[GO], &go, 1) != 1 || go != 'g');
}

static void receive(process_t *p)
{
    close_all();
    while (p->forking.state == FORKING_ORDERED) {
        loop_wait(1000);
        loop_call();
    }
}

static int status_of(pid_t pid)
{
    int status;

    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

/* ---- tests ---- */

static void an_order_has_all_that_it_needs(void **state)
{
    char *at;
    process_t *p = taken_order();
    int n = 0;
    socklen_t size = sizeof n;

    (void)state;
    assert_int_equal(p->forking.state, FORKING_ORDERED);
    assert_string_equal(text, "APPPOOL_ID=00112233445566ff-0000000004560001");
    at = text + strlen(text) + 1;
    assert_memory_equal(at, "NOTIFY_SOCKET=/", 15);
    assert_non_null(strstr(at, "/n/0000000004560001"));
    at += strlen(at) + 1;
    assert_string_equal(at, "LISTEN_FDS=1");
    at += strlen(at) + 1;
    assert_string_equal(at, "LISTEN_FDNAMES=apppool");
    assert_true(at + strlen(at) == text + length);
    assert_int_equal(
        getsockopt(fds[LISTENER], SOL_SOCKET, SO_ACCEPTCONN, &n, &size), 0);
    assert_int_equal(n, 1);
    assert_int_equal(__real_write(fds[OUTPUT], "x", 1), 1);
    close_all();
}

static void it_is_on_record_before_it_goes(void **state)
{
    process_t *p = taken_order();
    pid_t pid = fork_one();

    (void)state;
    receive(p);
    assert_int_equal(p->forking.state, FORKING_NOT);
    assert_string_equal(done, "registry segment go");
    assert_int_equal(p->is.pid, pid);
    assert_ptr_equal(process_of_child(state_spawner(), pid), p);
    assert_int_equal(p->deadline, state_spawner()->now + 7 * SECOND);
    assert_int_equal(t->template.forked, 1);
    assert_int_equal(status_of(pid), 0);
}

static void it_does_not_go_without_a_record(void **state)
{
    process_t *p = taken_order();
    pid_t pid = fork_one();

    (void)state;
    failing = 1;
    receive(p);
    assert_int_equal(p->forking.state, FORKING_EXECUTE);
    assert_string_equal(done, "");
    assert_int_equal(p->is.pid, 0);
    assert_null(process_of_child(state_spawner(), pid));
    /* What the command reports is not known already. */
    assert_null(p->start.command);
    assert_int_equal(p->start.user[0], 0);
    assert_int_equal(p->is.uid, UINT32_MAX);
    assert_int_equal(p->is.wire.concurrency, APL_CONCURRENCY_AUTO);
    assert_int_equal(p->is.template_id, 0);
    assert_int_equal(t->template.forked, 0);
    assert_true(status_of(pid) != 0);
}

/* The spawner dies, or takes another way. */
static void it_does_not_go_when_nobody_wants_it(void **state)
{
    process_t *p = taken_order();
    pid_t pid = fork_one();

    (void)state;
    close_all();
    state_spawner()->now += 4 * SECOND;
    fork_start_check(state_spawner(), p);
    assert_int_equal(p->forking.state, FORKING_ORDERED);
    state_spawner()->now += 2 * SECOND;
    fork_start_check(state_spawner(), p);
    assert_int_equal(p->forking.state, FORKING_EXECUTE);
    assert_true(t->template.failed_at != 0);
    assert_int_equal(fork_start_clear(state_spawner(), p), 0);
    assert_true(WIFEXITED(status_of(pid)));
    assert_string_equal(done, "");
}

static void is_not_taken(process_t *p, pid_t pid)
{
    char hello[16];

    snprintf(hello, sizeof hello, "%d\n", (int)pid);
    assert_true(__real_write(fds[REPORT], hello, strlen(hello)) > 0);
    receive(p);
    assert_int_equal(p->forking.state, FORKING_EXECUTE);
    assert_string_equal(done, "");
}

static void it_is_dead(void **state)
{
    process_t *p = taken_order();
    pid_t pid = fork();

    (void)state;
    if (pid == 0)
        _exit(0);
    waitid(P_PID, (id_t)pid, &(siginfo_t){0}, WEXITED | WNOWAIT);
    is_not_taken(p, pid);
    assert_int_equal(t->phase, PHASE_LIVE);
}

/* A command of AppNotify leads a session and runs as the user of the app. */
static void it_names_a_job(void **state)
{
    process_t *p = taken_order();
    job_t job = {0};
    procfs_t info;
    pid_t pid = job_fork(state_spawner(), &job, SECOND, NULL);

    (void)state;
    if (pid == 0)
        _exit(pause());
    while (procfs_read(pid, &info) != 0 || info.session != pid)
        usleep(100);
    is_not_taken(p, pid);
    job_stop();
}

static void all_is_closed_without_a_hello(void **state)
{
    process_t *p = taken_order();

    (void)state;
    receive(p);
    assert_int_equal(p->forking.state, FORKING_EXECUTE);
    assert_true(t->template.failed_at != 0);
}

/* It does not read its orders. */
static void its_socket_is_full(void **state)
{
    char much[2048] = "";

    (void)state;
    while (send(t->template.orders, much, sizeof much, MSG_DONTWAIT) > 0)
        ;
    assert_int_equal(errno, EAGAIN);
    assert_int_equal(order()->forking.state, FORKING_EXECUTE);
    assert_true(t->template.failed_at != 0);
}

static void it_has_ended(void **state)
{
    (void)state;
    close(orders);
    orders = -1;
    assert_int_equal(order()->forking.state, FORKING_EXECUTE);
    assert_true(t->template.failed_at == 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_one, end_one)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_order_has_all_that_it_needs),
        TEST(it_is_on_record_before_it_goes),
        TEST(it_does_not_go_without_a_record),
        TEST(it_does_not_go_when_nobody_wants_it),
        TEST(it_is_dead),
        TEST(it_names_a_job),
        TEST(all_is_closed_without_a_hello),
        TEST(its_socket_is_full),
        TEST(it_has_ended),
    };

    alarm(300);
    return cmocka_run_group_tests(tests, begin, scratch_end);
}
