/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* How many lines of this project get into the error log, and on which level.
 * The linker wraps the clock. */

#include "spawner/common/log.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "spawner/shared/contract.h"
#include "tests/unit/support/scene.h"
#include "tests/unit/support/temporary.h"

static char dir[TEMPORARY_MAX], text[1 << 20];
static int dirfd, file;
static time_t now = 1000;

int __real_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t);

int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
    if (clock != CLOCK_MONOTONIC)
        return __real_clock_gettime(clock, t);
    t->tv_sec = now;
    t->tv_nsec = 0;
    return 0;
}

static char path[40]; /* of the log */

static void link_to(const char *where)
{
    unlinkat(dirfd, CONTRACT_ERRORLOG, 0);
    assert_int_equal(symlinkat(where, dirfd, CONTRACT_ERRORLOG), 0);
}

static int setup(void **state)
{
    (void)state;
    dirfd = temporary_dir(dir, "log")
                ? open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                : -1;
    file = memfd_create("log", MFD_CLOEXEC);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    log_directory(dirfd);
    link_to(path);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unlinkat(dirfd, CONTRACT_ERRORLOG, 0);
    return rmdir(dir);
}

/* Lines with this text since the last call. */
static int written(const char *what)
{
    const char *at = text;
    ssize_t n = pread(file, text, sizeof text - 1, 0);
    int found = 0;

    assert_true(n >= 0 && n < (ssize_t)sizeof text - 1);
    text[n] = 0;
    assert_int_equal(ftruncate(file, 0), 0);
    for (; (at = strstr(at, what)) != NULL; at++)
        found++;
    return found;
}

static void flood(int lines)
{
    int i;

    for (i = 0; i < lines; i++)
        log_line(LOG_ERROR, "flood %d", i);
}

static void a_flood_is_cut(void **state)
{
    (void)state;
    flood(100000);
    log_line(LOG_ERROR, "another line");
    assert_int_equal(written("flood "), LOG_BURST);
    assert_non_null(strstr(text, "another line"));
    log_tick(0);
    assert_int_equal(written("[apppool:warn] [pid "), 1);
    assert_non_null(strstr(text, "99000 lines dropped, the last one: flood "
                                 "99999\n"));
    flood(10);
    log_tick(0);
    assert_int_equal(written("flood "), 0); /* it was logged just now */
    now += 20;
    log_tick(0);
    assert_int_equal(written("10 lines dropped"), 1);
    flood(1000);
    assert_int_equal(written("flood "), 20 * LOG_RATE);
    log_tick(0);
    assert_int_equal(written("lines dropped"), 0); /* it was logged just now */
    log_tick(1); /* but this is the last chance */
    assert_int_equal(written("800 lines dropped"), 1);
    log_tick(1);
    assert_int_equal(written("lines dropped"), 0);
}

static void what_the_disk_has_no_room_for(void **state)
{
    (void)state;
    link_to("/dev/full");
    log_write("one\ntwo\n", 8);
    log_line(LOG_ERROR, "three");
    log_tick(0); /* there is no room for this either */
    link_to(path);
    log_tick(0);
    assert_int_equal(written("could not be written"), 0); /* not yet again */
    now += 10;
    log_tick(0);
    assert_int_equal(written("3 lines could not be written to this log: No "
                             "space left on device\n"),
                     1);
    now += 10;
    log_tick(1);
    assert_int_equal(written("\n"), 0);
}

static void levels(void **state)
{
    (void)state;
    log_line(LOG_INFO, "a");
    log_line(LOG_NOTICE, "b");
    assert_int_equal(written("apppool: a"), 0);
    log_level(LOG_INFO);
    log_line(LOG_INFO, "a");
    assert_int_equal(written("apppool: a"), 1);
    log_level(LOG_ERROR);
    log_line(LOG_INFO, "a");
    log_line(LOG_WARN, "a");
    log_line(LOG_NOTICE, "b");
    log_line(LOG_ERROR, "c");
    assert_int_equal(written("apppool: a"), 0);
    assert_non_null(strstr(text, "[apppool:notice] "));
    assert_non_null(strstr(text, "[apppool:error] "));
}

/* No foreign text begins a line, or has an effect on a terminal. */
static void escapes(void **state)
{
    static const struct {
        const char *from, *to;
    } cases[] = {{"a b\tc", "a b\tc"},
                 {"a\nb", "a\\x0ab"},
                 {"a\rb", "a\\x0db"},
                 {"\x1b[31m", "\\x1b[31m"},
                 {"\x7f", "\\x7f"},
                 {"gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f"},
                 {"", ""}};
    char to[32];
    size_t i;

    (void)state;
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(
            log_escape(to, sizeof to, cases[i].from, strlen(cases[i].from)),
            strlen(cases[i].to));
        assert_string_equal(to, cases[i].to);
    }
    /* A text that does not fit is cut, but not within an escape. */
    assert_int_equal(log_escape(to, 12, "\n\n\n\n", 4), 8);
    assert_string_equal(to, "\\x0a\\x0a");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels),
        cmocka_unit_test(escapes),
        cmocka_unit_test(a_flood_is_cut),
        cmocka_unit_test(what_the_disk_has_no_room_for),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
