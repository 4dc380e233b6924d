/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* How long apppoolctl waits for a store that was compromised, and for one that
 * has much to say. The clock goes on while it waits, and only then. And why a
 * store is not ready. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
/* The order of these matters. */
#include <cmocka.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ctl/ask_server.h"
#include "ctl/commands.h"

#define KEY "key=session%3A1 exp=-1 la=1 cas=1 fetch=no cls=1 size=72\n"

static char said[1024];
static const char *text;  /* what the store sends, again and again, */
static size_t sent, most; /* and how many bytes of it */
static const char *last;  /* what comes then; NULL: the end */
static size_t piece;      /* bytes that come at once, */
static int64_t pause_ms;  /* after that time */
static int64_t now;       /* ms */

int ask_complain(int status, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(said, sizeof said, format, args);
    va_end(args);
    return status;
}

int ask_directory(const char **dir)
{
    *dir = "/run";
    return EXIT_OK;
}

int store_socket_space(const char *dir, const char *word, char **space)
{
    (void)dir;
    *space = strdup(word);
    return EXIT_OK;
}

int store_socket_connect(const char *dir, const char *name, const char *what,
                         int limit, int *fd)
{
    (void)dir;
    (void)name;
    (void)what;
    (void)limit;
    *fd = open("/dev/null", O_RDWR);
    return EXIT_OK;
}

ssize_t __wrap_send(int fd, const void *data, size_t n, int flags);
ssize_t __wrap_send(int fd, const void *data, size_t n, int flags)
{
    (void)fd;
    (void)data;
    (void)flags;
    return (ssize_t)n;
}

int __wrap_poll(struct pollfd *fds, nfds_t n, int ms);
int __wrap_poll(struct pollfd *fds, nfds_t n, int ms)
{
    (void)n;
    fds->revents = POLLIN;
    now += ms < pause_ms ? ms : pause_ms;
    return ms >= pause_ms;
}

ssize_t __wrap_recv(int fd, void *data, size_t room, int flags);
ssize_t __wrap_recv(int fd, void *data, size_t room, int flags)
{
    size_t i, n = room < piece ? room : piece;

    (void)fd;
    (void)flags;
    if (sent >= most) {
        n = last ? strlen(last) : 0;
        assert_true(n <= room);
        memcpy(data, last ? last : "", n);
        last = NULL;
        return (ssize_t)n;
    }
    for (i = 0; i < n; i++)
        ((char *)data)[i] = text[sent++ % strlen(text)];
    return (ssize_t)n;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
    (void)clock;
    t->tv_sec = now / 1000;
    t->tv_nsec = now % 1000 * 1000000;
    return 0;
}

static void begin(const char *what, size_t n, size_t at_once)
{
    text = what;
    sent = 0;
    most = n;
    piece = at_once;
    last = NULL;
    pause_ms = 1000;
    now = 1;
    said[0] = 0;
}

static int is_too_slow(int64_t limit)
{
    return strstr(said, "too slow") && now <= limit + pause_ms;
}

/* apppoolctl store WORD... */
static int command(const char *word, const char *space, const char *prefix)
{
    const char *const words[] = {word, space, prefix, NULL};

    return store_command(NULL, 0, words, 1 + !!space + !!prefix);
}

/* It sends a byte each second, without end. */
static void a_trickle_ends_each_exchange(void **state)
{
    (void)state;
    begin("x", SIZE_MAX, 1);
    assert_int_equal(command("flush", "shop", NULL), EXIT_NO);
    assert_true(is_too_slow(60000));
    begin(KEY, SIZE_MAX, 1);
    assert_int_equal(command("keys", "shop", "none"), EXIT_NO);
    assert_true(is_too_slow(60000));
    begin("x", SIZE_MAX, 1);
    assert_int_equal(command("handover", NULL, NULL), EXIT_NO);
    assert_true(is_too_slow(30000));
}

/* Two megabytes take minutes, but some come each second. */
static void a_long_list_may_take_long(void **state)
{
    (void)state;
    begin(KEY, 2 << 20, 4096);
    last = "\nEND\r\n"; /* behind a part of a key */
    assert_int_equal(command("keys", "shop", "none"), EXIT_OK);
    assert_true(now > 500 * 1000);
    assert_string_equal(said, "");
}

static void the_end_of_the_connection_is_no_slowness(void **state)
{
    (void)state;
    begin(KEY, 0, 1);
    assert_int_equal(command("keys", "shop", NULL), EXIT_NO);
    assert_non_null(strstr(said, "no response"));
    assert_int_equal(command("flush", "shop", NULL), EXIT_NO);
    assert_non_null(strstr(said, "no response"));
}

/* ---- ready ---- */

static json_t *report; /* of httpd */

int ask_status(const char *dir, int silently, json_t **to)
{
    (void)dir;
    (void)silently;
    *to = json_incref(report);
    return 0;
}

int ask_complain_report(const json_t *response)
{
    (void)response;
    return EXIT_NO;
}

void top_put_clock(FILE *out)
{
    (void)out;
}

const char *top_rate(const top_reports_t *l, const json_t *one,
                     const json_t *before, const char *key, char out[24])
{
    (void)l, (void)one, (void)before, (void)key;
    return strcpy(out, "-");
}

static void expect_why(const char *reason, int status, const char *why)
{
    report = json_pack("{s:{s:{s:b,s:s,s:f}}}", "store", "cluster", "ready", 0,
                       "reason", reason, "age_seconds", 6.5);
    assert_int_equal(store_ready("/run", 0), status);
    assert_non_null(strstr(said, why));
    assert_int_equal(store_ready("/run", 1), status);
    json_decref(report);
}

static void why_a_slave_is_not_ready(void **state)
{
    (void)state;
    expect_why("other", EXIT_NO, "or this store hangs");
    expect_why("a word of another build", EXIT_NO, "or this store hangs");
    expect_why("incomplete", 4, "is not complete");
    expect_why("better elsewhere", 5, "another host has better data");
    expect_why("stale", 6, "its copy is old");
    expect_why("stale", 6, ", copy 6.5 s old");
}

/* Better than nobody. */
static void an_old_copy_is_usable(void **state)
{
    (void)state;
    report = json_pack("{s:{s:{s:b,s:s}}}", "store", "cluster", "ready", 0,
                       "reason", "stale");
    assert_int_equal(store_usable("/run", 0), EXIT_OK);
    json_decref(report);
    report = json_pack("{s:{s:{s:b,s:s}}}", "store", "cluster", "ready", 0,
                       "reason", "better elsewhere");
    assert_int_equal(store_usable("/run", 0), 5);
    json_decref(report);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trickle_ends_each_exchange),
        cmocka_unit_test(a_long_list_may_take_long),
        cmocka_unit_test(the_end_of_the_connection_is_no_slowness),
        cmocka_unit_test(why_a_slave_is_not_ready),
        cmocka_unit_test(an_old_copy_is_usable),
    };

    alarm(300);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
