/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The lock excludes others. The next owner learns when the last one has died,
 * in whatever way it died. */

#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shm/lock/lock.h"
#include "shm/lock/wake.h"
#include "tests/unit/support/scene.h"

#define ENOUGH                                                                 \
    (60 * 1000000) /* us; a thread that waits this long waits in vain */

typedef struct {
    uint32_t word;
    uint32_t inside;
    uint32_t go;
    uint64_t sum;
} shared_t;

static shared_t *shared_new(void)
{
    return mmap(NULL, sizeof(shared_t), PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

static void wait_until(const uint32_t *what, uint32_t value)
{
    while (__atomic_load_n(what, __ATOMIC_ACQUIRE) != value)
        usleep(500);
}

static void owner_dies_inside(shared_t *m, int by_kill)
{
    int died, status;
    pid_t pid = fork();

    if (pid == 0) {
        if (apl_lock_take(&m->word, -1, &died) != APR_SUCCESS)
            _exit(9);
        __atomic_store_n(&m->inside, 1, __ATOMIC_RELEASE);
        while (by_kill)
            pause();
        _exit(0);
    }
    wait_until(&m->inside, 1);
    if (by_kill)
        kill(pid, SIGKILL);
    assert_int_equal(apl_lock_take(&m->word, ENOUGH, &died), APR_SUCCESS);
    assert_int_equal(died, 1);
    apl_lock_give(&m->word);
    assert_int_equal(apl_lock_take(&m->word, 0, &died), APR_SUCCESS);
    assert_int_equal(died, 0);
    apl_lock_give(&m->word);
    waitpid(pid, &status, 0);
    m->inside = 0;
}

static void the_next_owner_learns_of_a_death(void **state)
{
    shared_t *m = shared_new();
    int i;

    (void)state;
    for (i = 0; i < 20; i++) {
        owner_dies_inside(m, 1);
        owner_dies_inside(m, 0);
    }
}

/* The word that the kernel will look at when this thread ends. */
static const void *announced(void)
{
    struct robust_list_head *head;
    size_t size;

    assert_int_equal(syscall(SYS_get_robust_list, 0, &head, &size), 0);
    return head->list_op_pending
               ? (char *)head->list_op_pending + head->futex_offset
               : NULL;
}

static void the_kernel_knows_the_lock_that_is_held(void **state)
{
    shared_t *m = shared_new();
    int died, status;
    pid_t pid;

    (void)state;
    assert_int_equal(apl_lock_take(&m->word, -1, &died), APR_SUCCESS);
    assert_ptr_equal(announced(), &m->word);
    apl_lock_give(&m->word);
    assert_null(announced());
    pid = fork();
    if (pid == 0) {
        apl_lock_take(&m->word, -1, &died);
        _exit(0);
    }
    waitpid(pid, &status, 0);
    assert_int_equal(m->word, FUTEX_OWNER_DIED); /* without help */
    m->word = 1;
    assert_int_equal(apl_lock_take(&m->word, 0, &died), APL_ELOCK);
    assert_null(announced());
}

/* Act as if a signal handler had made the kernel forget the lock. */
static void an_owner_the_kernel_forgot_is_found_out(void **state)
{
    shared_t *m = shared_new();
    int died, status;
    pid_t pid = fork();

    (void)state;
    if (pid == 0) {
        if (apl_lock_take(&m->word, -1, &died) != APR_SUCCESS)
            _exit(9);
        uint32_t word = m->word;

        apl_lock_give(&m->word);
        m->word = word;
        _exit(0);
    }
    waitpid(pid, &status, 0);
    assert_int_equal(status, 0);
    assert_true(m->word != 0);
    assert_int_equal(apl_lock_take(&m->word, ENOUGH, &died), APR_SUCCESS);
    assert_int_equal(died, 1);
    apl_lock_give(&m->word);
}

static void it_is_not_recursive_and_a_limit_is_kept(void **state)
{
    shared_t *m = shared_new();
    int died;
    pid_t pid;

    (void)state;
    assert_int_equal(apl_lock_take(&m->word, -1, &died), APR_SUCCESS);
    assert_int_equal(apl_lock_take(&m->word, -1, &died), APL_ELOCK);
    pid = fork();
    if (pid == 0)
        _exit(apl_lock_take(&m->word, 30000, &died) == APL_ELOCK ? 0 : 1);
    waitpid(pid, &died, 0);
    assert_int_equal(died, 0);
    apl_lock_give(&m->word);
    assert_int_equal(m->word, 0);
}

/* As a hostile process writes it. */
static void its_own_id_keeps_no_thread_out(void **state)
{
    shared_t *m = shared_new();
    uint32_t own = (uint32_t)syscall(SYS_gettid);
    int died;

    (void)state;
    m->word = own;
    assert_int_equal(apl_lock_take(&m->word, -1, &died), APR_SUCCESS);
    assert_int_equal(died, 1);
    assert_ptr_equal(announced(), &m->word);
    assert_int_equal(apl_lock_take(&m->word, -1, &died), APL_ELOCK);
    assert_int_equal(apl_lock_give(&m->word), 1);
    assert_int_equal(m->word, 0);
    m->word = own | FUTEX_WAITERS;
    assert_int_equal(apl_lock_take(&m->word, 0, &died), APR_SUCCESS);
    assert_int_equal(died, 1);
    assert_int_equal(apl_lock_give(&m->word), 1);
}

#define ROUNDS 100000

static void add_up(shared_t *m)
{
    int died, i;

    for (i = 0; i < ROUNDS; i++) {
        if (apl_lock_take(&m->word, -1, &died) != APR_SUCCESS || died)
            _exit(1);
        m->sum = m->sum + 1;
        apl_lock_give(&m->word);
    }
}

static void *add_up_thread(void *m)
{
    add_up(m);
    return NULL;
}

static void processes_and_threads_exclude_each_other(void **state)
{
    shared_t *m = shared_new();
    pid_t pids[3];
    int i, status;

    (void)state;
    for (i = 0; i < 3; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            pthread_t t;

            pthread_create(&t, NULL, add_up_thread, m);
            add_up(m);
            pthread_join(t, NULL);
            _exit(0);
        }
    }
    for (i = 0; i < 3; i++) {
        waitpid(pids[i], &status, 0);
        assert_int_equal(status, 0);
    }
    assert_int_equal(m->sum, 6 * ROUNDS);
    assert_int_equal(m->word, 0);
}

/* A thread that is killed while it waits, or when it is woken, blocks no
 * other. */
static void a_killed_waiter_loses_no_wakeup(void **state)
{
    shared_t *m = shared_new();
    int round, died, status;

    (void)state;
    for (round = 0; round < 50; round++) {
        pid_t a, b;

        assert_int_equal(apl_lock_take(&m->word, -1, &died), APR_SUCCESS);
        m->inside = 0;
        a = fork();
        if (a == 0) {
            apl_lock_take(&m->word, -1, &died);
            _exit(0);
        }
        b = fork();
        if (b == 0) {
            if (apl_lock_take(&m->word, -1, &died) != APR_SUCCESS)
                _exit(1);
            m->inside = 1;
            apl_lock_give(&m->word);
            _exit(0);
        }
        usleep((useconds_t)(round * 37 % 900));
        apl_lock_give(&m->word);
        kill(a, SIGKILL);
        waitpid(a, &status, 0);
        waitpid(b, &status, 0);
        assert_int_equal(status, 0);
        assert_int_equal(m->inside, 1);
    }
}

/* The word has the id of a living thread that never took the lock. */
static void a_lock_can_be_broken(void **state)
{
    shared_t *m = shared_new();
    int died, status;
    pid_t waiter;

    (void)state;
    m->word = 1;
    assert_int_equal(apl_lock_holder(&m->word), 1);
    assert_int_equal(apl_lock_take(&m->word, 10000, &died), APL_ELOCK);
    waiter = fork();
    if (waiter == 0) {
        m->inside = 1;
        if (apl_lock_take(&m->word, -1, &died) != APR_SUCCESS || !died)
            _exit(1);
        apl_lock_give(&m->word);
        _exit(0);
    }
    wait_until(&m->inside, 1);
    apl_lock_break(&m->word, 2); /* another one's is left alone */
    assert_int_equal(apl_lock_holder(&m->word), 1);
    apl_lock_break(&m->word, 1);
    waitpid(waiter, &status, 0);
    assert_int_equal(status, 0);
    assert_int_equal(apl_lock_holder(&m->word), 0);
    assert_int_equal(apl_lock_take(&m->word, 0, &died), APR_SUCCESS);
    assert_int_equal(died, 0);
    apl_lock_give(&m->word);
}

/* The lock of this thread was broken while it did not run: it has nothing to
 * free. */
static void the_owner_of_a_broken_lock_frees_no_other(void **state)
{
    shared_t *m = shared_new();
    int died, status;
    uint32_t word;
    pid_t owner = fork();

    (void)state;
    if (owner == 0) {
        if (apl_lock_take(&m->word, -1, &died) != APR_SUCCESS ||
            !apl_lock_is_mine(&m->word))
            _exit(1);
        raise(SIGSTOP);
        if (apl_lock_is_mine(&m->word) || apl_lock_give(&m->word) ||
            announced() != NULL)
            _exit(2);
        _exit(0);
    }
    assert_int_equal(waitpid(owner, &status, WUNTRACED), owner);
    assert_true(WIFSTOPPED(status));
    apl_lock_break(&m->word, (uint32_t)owner);
    assert_int_equal(apl_lock_take(&m->word, 0, &died), APR_SUCCESS);
    assert_int_equal(died, 1);
    word = m->word;
    kill(owner, SIGCONT);
    assert_int_equal(waitpid(owner, &status, 0), owner);
    assert_int_equal(status, 0);
    assert_int_equal(m->word, word);
    assert_int_equal(apl_lock_give(&m->word), 1);
    assert_int_equal(m->word, 0);
}

/* list_op_pending names a robust mutex that the thread is about to take when
 * a signal handler comes in between. */
static void what_glibc_has_announced_is_put_back(void **state)
{
    shared_t *m = shared_new();
    struct robust_list_head *head;
    struct robust_list mutex;
    size_t size;
    int died;

    (void)state;
    assert_int_equal(syscall(SYS_get_robust_list, 0, &head, &size), 0);
    head->list_op_pending = &mutex;
    assert_int_equal(apl_lock_take(&m->word, -1, &died), APR_SUCCESS);
    assert_ptr_equal(announced(), &m->word);
    assert_int_equal(apl_lock_give(&m->word), 1);
    assert_ptr_equal(head->list_op_pending, &mutex);
    m->word = 1;
    assert_int_equal(apl_lock_take(&m->word, 0, &died), APL_ELOCK);
    assert_ptr_equal(head->list_op_pending, &mutex);
    head->list_op_pending = NULL;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_next_owner_learns_of_a_death),
        cmocka_unit_test(the_kernel_knows_the_lock_that_is_held),
        cmocka_unit_test(an_owner_the_kernel_forgot_is_found_out),
        cmocka_unit_test(it_is_not_recursive_and_a_limit_is_kept),
        cmocka_unit_test(its_own_id_keeps_no_thread_out),
        cmocka_unit_test(processes_and_threads_exclude_each_other),
        cmocka_unit_test(a_killed_waiter_loses_no_wakeup),
        cmocka_unit_test(a_lock_can_be_broken),
        cmocka_unit_test(the_owner_of_a_broken_lock_frees_no_other),
        cmocka_unit_test(what_glibc_has_announced_is_put_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
