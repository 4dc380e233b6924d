/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* How many lines of this project get into the error log, and on which level.
 * The linker wraps the clock. */

#include "system/log.h"

#include <fcntl.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/contract.h"
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
        assert_int_equal(log_format_escape(to, sizeof to, cases[i].from,
                                           strlen(cases[i].from)),
                         strlen(cases[i].to));
        assert_string_equal(to, cases[i].to);
    }
    /* A text that does not fit is cut, but not within an escape. */
    assert_int_equal(log_format_escape(to, 12, "\n\n\n\n", 4), 8);
    assert_string_equal(to, "\\x0a\\x0a");
}

/* ---- ErrorLogFormat ---- */

/* What a format makes of "hi\n" that shop[7] prints. */
static const char *line_of(const char *format)
{
    const log_message_t message = {LOG_WARN, "shop[7]> ", "hi\n", 3};
    static char line[LOG_LINE_MAX];
    size_t n = log_format_line(format, &message, line, sizeof line);

    assert_int_equal(n, strlen(line));
    return line;
}

static int matches(const char *line, const char *pattern)
{
    char whole[400];
    regex_t regex;
    int good;

    snprintf(whole, sizeof whole, "^%s$", pattern);
    assert_int_equal(regcomp(&regex, whole, REG_EXTENDED), 0);
    good = regexec(&regex, line, 0, NULL, 0) == 0;
    regfree(&regex);
    return good;
}

#define DAY  "[A-Z][a-z]{2} [A-Z][a-z]{2} [0-9]{2} "
#define ISO  "[0-9]{4}-[0-9]{2}-[0-9]{2} "
#define TIME "[0-9]{2}:[0-9]{2}:[0-9]{2}"
#define SAYS "apppool: shop\\[7\\]> hi\\\\x0a"

static void formats(void **state)
{
    static const struct {
        const char *format, *line;
    } cases[] = {
        {NULL, "\\[" DAY TIME "\\.[0-9]{6} 20[0-9]{2}\\] \\[apppool:warn\\] "
               "\\[pid [0-9]+\\] " SAYS},
        {"%t|%M", DAY TIME " 20[0-9]{2}\\|" SAYS},
        {"%u|%M", DAY TIME "\\.[0-9]{6} 20[0-9]{2}\\|" SAYS},
        {"%c|%M", ISO TIME "\\|" SAYS},
        {"%C %z|%M", ISO TIME "\\.[0-9]{6} [+-][0-9]{4}\\|" SAYS},
        {"%{%Y}|%M", "20[0-9]{2}\\|" SAYS},
        {"{\"level\": \"%l\", \"%%\": \"%M\"}",
         "\\{\"level\": \"warn\", \"%\": \"" SAYS "\"\\}"},
        {"%M", SAYS},
        /* They do not come from httpd. */
        {"%M%M%", SAYS},
        {"%x%M%{%Y", "x" SAYS "20[0-9]{2}"},
        {"no message", "no messageapppool: .*"},
    };
    char pid[20];
    size_t i;

    (void)state;
    for (i = 0; i < sizeof cases / sizeof *cases; i++)
        if (!matches(line_of(cases[i].format), cases[i].line))
            fail_msg("%s: %s", cases[i].format, line_of(cases[i].format));
    snprintf(pid, sizeof pid, "%d ", (int)getpid());
    assert_ptr_equal(strstr(line_of("%P %M"), pid), line_of("%P %M"));
}

/* Whatever the format is, the line ends in its room, and has the message. */
static void formats_that_do_not_fit(void **state)
{
    char format[CONTRACT_FORMAT_MAX], says[LOG_MAX], line[LOG_LINE_MAX];
    const log_message_t message = {LOG_INFO, "", says, sizeof says};
    size_t n;

    (void)state;
    memset(says, 'm', sizeof says);
    for (n = 0; n + 11 < sizeof format; n += 2) {
        memset(format, 'f', n);
        strcpy(format + n, "%M the end");
        assert_true(log_format_line(format, &message, line, sizeof line) <
                    sizeof line);
        assert_non_null(strstr(line, "apppool: mmmm"));
        assert_string_equal(line + strlen(line) - 8, " the end");
    }
    for (n = 0; n + 3 < sizeof format; n += 2)
        memcpy(format + n, "%u", 2);
    strcpy(format + n - 2, "%M");
    assert_true(log_format_line(format, &message, line, sizeof line) <
                sizeof line);
    assert_non_null(strstr(line, "[apppool:info] [pid "));
    assert_non_null(strstr(line, "apppool: mmmm"));
}

/* Programs that do not read the app table find it as a link. */
static void format_of_the_log(void **state)
{
    (void)state;
    log_level(LOG_INFO);
    assert_int_equal(symlinkat("<%l> %M", dirfd, CONTRACT_ERRORFORMAT), 0);
    log_line(LOG_INFO, "in it");
    assert_int_equal(written("<info> apppool: in it\n"), 1);
    unlinkat(dirfd, CONTRACT_ERRORFORMAT, 0);
    log_line(LOG_INFO, "without");
    assert_int_equal(written("[apppool:info] [pid "), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels),
        cmocka_unit_test(escapes),
        cmocka_unit_test(a_flood_is_cut),
        cmocka_unit_test(formats),
        cmocka_unit_test(formats_that_do_not_fit),
        cmocka_unit_test(format_of_the_log),
        cmocka_unit_test(what_the_disk_has_no_room_for),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
