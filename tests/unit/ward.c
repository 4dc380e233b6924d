/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* A spawner that does not beat is killed; one that cannot beat is not. */

#include "spawner/ward.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spawner/contract.h"
#include "spawner/log.h"
#include "spawner/pidfd.h"
#include "spawner/remove.h"
#include "tests/unit/scene.h"

#define LOOK  3000 /* ms from one look to the next */
#define LOOKS 20   /* more than kill it */

static char dir[] = "/tmp/ward-XXXXXX";
static int place;

static int setup(void **state)
{
    (void)state;
    strcpy(dir + strlen(dir) - 6, "XXXXXX");
    assert_non_null(mkdtemp(dir));
    place = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    log_directory(place);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    close(place);
    remove_tree(AT_FDCWD, dir);
    return 0;
}

/* A spawner that hangs is looked at. @return the signal that ended it */
static int watch_it(void)
{
    static ward_t w;
    int status, i;

    memset(&w, 0, sizeof w);
    w.runtime = dir;
    w.dirfd = place;
    w.pid = fork();
    if (w.pid == 0)
        for (;;)
            pause();
    w.pidfd = pidfd_open(w.pid, 0);
    assert_true(w.pidfd >= 0);
    for (i = 1; i <= LOOKS; i++)
        ward_look(&w, i * LOOK);
    /* The first of two signals ends it. */
    kill(w.pid, SIGTERM);
    assert_int_equal(waitpid(w.pid, &status, 0), w.pid);
    close(w.pidfd);
    return WTERMSIG(status);
}

static void without_a_beat_it_is_killed(void **state)
{
    int fd = openat(place, CONTRACT_SPAWNER_BEAT, O_WRONLY | O_CREAT, 0600);

    (void)state;
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(watch_it(), SIGKILL);
}

static void without_a_file_nothing_is_known(void **state)
{
    (void)state;
    assert_int_equal(watch_it(), SIGTERM);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(without_a_beat_it_is_killed),
        TEST(without_a_file_nothing_is_known),
    };

    alarm(60);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
