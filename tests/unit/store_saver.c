/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* A disk that fails during a periodic save. */

#include "store/server/saver.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include "tests/unit/support/keeper.h"
#include "tests/unit/support/notes.h"

#define FAILED "cannot be saved while it serves: Input/output error"

static int fails_to_write,
    fails_to_sync; /* the n-th call from now on; atomic */
static int fails_for_ever;
static int is_due; /* at so many waits from now on; the saver's */

int __wrap_pthread_cond_timedwait(pthread_cond_t *, pthread_mutex_t *,
                                  const struct timespec *);
int __real_pthread_cond_timedwait(pthread_cond_t *, pthread_mutex_t *,
                                  const struct timespec *);
int __wrap_sync_file_range(int fd, off_t from, off_t n, unsigned flags);
int __wrap_fdatasync(int fd);
int __real_fdatasync(int fd);

int __wrap_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m,
                                  const struct timespec *until)
{
    if (!is_due)
        return __real_pthread_cond_timedwait(c, m, until);
    __atomic_sub_fetch(&is_due, 1, __ATOMIC_RELAXED);
    return ETIMEDOUT;
}

static int fails(int *nth)
{
    errno = EIO;
    return __atomic_load_n(nth, __ATOMIC_RELAXED) > 0 &&
           __atomic_sub_fetch(nth, 1, __ATOMIC_RELAXED) == 0;
}

int __wrap_sync_file_range(int fd, off_t from, off_t n, unsigned flags)
{
    (void)fd, (void)from, (void)n, (void)flags;
    return fails(&fails_to_write) ? -1 : 0;
}

int __wrap_fdatasync(int fd)
{
    if (fails_for_ever) {
        errno = EIO;
        return -1;
    }
    return fails(&fails_to_sync) ? -1 : __real_fdatasync(fd);
}

/* @return 1: the newest file is whole */
static int save_until(const char *words)
{
    store_snapshot_head_t head;

    is_due = 1;
    store_saver_configure(3600);
    assert_int_equal(store_saver_start(&files), 0);
    notes_wait(words);
    store_saver_stop();
    assert_true(store_save_files_newest(&files, &head) >= 0);
    return head.whole;
}

static void what_is_not_on_the_disk_is_not_whole(void **state)
{
    (void)state;
    fails_to_write = 1;
    assert_false(save_until(FAILED));
    fails_to_sync = 1;
    assert_false(save_until(FAILED));
    fails_to_sync = 2; /* after the end was written */
    assert_false(save_until(FAILED));
    assert_true(save_until("saved 60 items"));
}

/* The file before stays. */
static void the_other_file_is_the_newest_one(void **state)
{
    uint32_t number;
    int fd;

    (void)state;
    assert_true(save_until("saved 60 items"));
    fd = store_save_files_next(&files, 1, &number);
    fails_to_sync = 2;
    assert_true(save_until(FAILED));
    assert_int_equal(store_save_files_next(&files, 1, &number), fd);
}

/* One line a minute, however often it saves. */
static void a_full_disk_does_not_fill_the_log(void **state)
{
    (void)state;
    fails_for_ever = 1;
    is_due = 10;
    store_saver_configure(3600);
    assert_int_equal(store_saver_start(&files), 0);
    while (__atomic_load_n(&is_due, __ATOMIC_RELAXED) > 0)
        poll(NULL, 0, 1);
    store_saver_stop();
    fails_for_ever = 0;
    assert_int_equal(notes_count(FAILED), 1);
}

int main(void)
{
#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, keeper_setup, keeper_teardown)
    const struct CMUnitTest tests[] = {
        TEST(what_is_not_on_the_disk_is_not_whole),
        TEST(the_other_file_is_the_newest_one),
        TEST(a_full_disk_does_not_fill_the_log),
    };

    alarm(300);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
