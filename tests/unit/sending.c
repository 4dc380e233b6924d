/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* A body in pieces of any size, sent to an app that takes any number of bytes at
 * a time. The app finds the head and the body, and nothing else. */

#include "mod_apppool/backend/sending.h"

#include <apr_general.h>
#include <errno.h>
#include <http_config.h>
#include <http_protocol.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <util_filter.h>

#include "mod_apppool/backend/fcgi_format.h"
#include "tests/unit/support/scene.h"

#define ROUNDS  150
#define MOST    200000 /* bytes of a body */
#define REQUEST 7      /* its id */

static const char head[] = "the head", more[] = " and more of it";
static apr_pool_t *pool;
static apr_bucket_alloc_t *list;
static unsigned seed;

/* The client. */
static char body[MOST];
static size_t size, given;
static char reused[MOST];   /* by a filter of TLS, at each look at the client */
static apr_status_t error;  /* that the next read returns */
static int pauses, is_over; /* the end was given */

static unsigned dice(unsigned sides)
{
    seed = seed * 1103515245 + 12345;
    return (seed >> 16) % sides;
}

/* ---- httpd ---- */

module AP_MODULE_DECLARE_DATA apppool_module;

static void give(apr_bucket_brigade *bb, size_t n)
{
    apr_bucket *b;

    switch (dice(3)) {
    case 0:
        memcpy(reused, body + given, n);
        b = apr_bucket_transient_create(reused, n, list);
        break;
    case 1:
        b = apr_bucket_heap_create(body + given, n, NULL, list);
        break;
    default:
        b = apr_bucket_immortal_create(body + given, n, list);
    }
    APR_BRIGADE_INSERT_TAIL(bb, b);
    given += n;
}

apr_status_t ap_get_brigade(ap_filter_t *filter, apr_bucket_brigade *bb,
                            ap_input_mode_t mode, apr_read_type_e block,
                            apr_off_t most)
{
    size_t left = size - given, n = dice(2) ? dice(50) : dice(100000);

    (void)filter, (void)most;
    assert_int_equal(mode, AP_MODE_READBYTES);
    assert_int_equal(block, APR_NONBLOCK_READ);
    if (error != APR_SUCCESS)
        return error;
    if (pauses && dice(2))
        return dice(2) ? APR_EAGAIN : APR_SUCCESS;
    if (left > 0)
        give(bb, n < left ? n : left);
    if (dice(5) == 0)
        APR_BRIGADE_INSERT_TAIL(bb, apr_bucket_flush_create(list));
    if (given == size && dice(2)) {
        APR_BRIGADE_INSERT_TAIL(bb, apr_bucket_eos_create(list));
        is_over = 1;
    }
    return APR_SUCCESS;
}

void ap_log_rerror_(const char *file, int line, int module_index, int level,
                    apr_status_t status, const request_rec *r, const char *form,
                    ...)
{
    (void)file, (void)line, (void)module_index, (void)level, (void)status;
    (void)r, (void)form;
}

int ap_map_http_request_error(apr_status_t rv, int status)
{
    return APR_STATUS_IS_TIMEUP(rv) ? HTTP_REQUEST_TIME_OUT : status;
}

/* ---- a request ---- */

typedef struct {
    request_rec r;
    conn_rec c;
    server_rec s;
    apppool_sending_t sending;
    int ends[2]; /* ours, the app's */
    char *got;
    size_t n;
} fixture_t;

static fixture_t *begin(apppool_sending_kind_t kind,
                        apppool_sending_framing_t framing)
{
    fixture_t *f = apr_pcalloc(pool, sizeof *f);
    int least = 1;

    f->r.pool = pool;
    f->r.connection = &f->c;
    f->r.server = &f->s;
    f->s.timeout = apr_time_from_sec(60);
    f->c.bucket_alloc = list;
    f->sending.kind = kind;
    f->sending.framing = framing;
    f->sending.request = REQUEST;
    f->got = apr_palloc(pool, 4 * MOST);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, f->ends), 0);
    setsockopt(f->ends[0], SOL_SOCKET, SO_SNDBUF, &least, sizeof least);
    apppool_sending_add(&f->sending, head, sizeof head - 1);
    apppool_sending_add(&f->sending, more, sizeof more - 1);
    given = 0;
    is_over = pauses = 0;
    error = APR_SUCCESS;
    return f;
}

static int go_on(fixture_t *f)
{
    return apppool_sending_go_on(&f->sending, &f->r, "shop", f->ends[0]);
}

static void end(fixture_t *f)
{
    close(f->ends[0]);
    close(f->ends[1]);
    apr_pool_clear(pool);
    list = apr_bucket_alloc_create(pool);
}

static int app_reads(fixture_t *f)
{
    ssize_t n = recv(f->ends[1], f->got + f->n, 1 + dice(30000), MSG_DONTWAIT);

    f->n += n > 0 ? (size_t)n : 0;
    return n > 0;
}

static void send_all(fixture_t *f)
{
    while (!apppool_sending_is_over(&f->sending)) {
        assert_int_equal(go_on(f), OK);
        memset(reused, '!', sizeof reused);
        app_reads(f);
    }
    while (app_reads(f))
        continue;
    f->got[f->n] = 0;
}

/* ---- what the app finds ---- */

static const char *see(const char *at, const char *end, const char *want,
                       size_t n)
{
    assert_true((size_t)(end - at) >= n);
    assert_memory_equal(at, want, n);
    return at + n;
}

static const char *see_chunks(const char *at, const char *end, size_t *n)
{
    size_t of;
    char *rest;

    do {
        of = strtoul(at, &rest, 16);
        at = see(rest, end, "\r\n", 2);
        at = see(at, end, body + *n, of);
        at = see(at, end, "\r\n", 2);
        *n += of;
    } while (of > 0);
    return at;
}

static const char *see_records(const char *at, const char *end, size_t *n)
{
    const char start[] = {FCGI_VERSION, FCGI_STDIN, 0, REQUEST};
    size_t of;

    do {
        at = see(at, end, start, sizeof start);
        of = (size_t)(unsigned char)at[0] << 8 | (unsigned char)at[1];
        at = see(at, end, (const char[]){at[0], at[1], 0, 0}, 4);
        at = see(at, end, body + *n, of);
        *n += of;
    } while (of > 0);
    return at;
}

static void arrives(apppool_sending_kind_t kind,
                    apppool_sending_framing_t framing)
{
    fixture_t *f = begin(kind, framing);
    const char *at = f->got, *last;
    size_t n = 0;

    pauses = (int)dice(2);
    send_all(f);
    assert_false(f->sending.hung_up);
    last = f->got + f->n;
    at = see(at, last, head, sizeof head - 1);
    at = see(at, last, more, sizeof more - 1);
    if (framing == APPPOOL_SENDING_PLAIN) {
        at = see(at, last, body, size);
        n = size;
    }
    else
        at = framing == APPPOOL_SENDING_CHUNKED ? see_chunks(at, last, &n)
                                                : see_records(at, last, &n);
    assert_int_equal(n, size);
    assert_ptr_equal(at, last);
    assert_true(is_over);
    end(f);
}

static void any_body_in_any_pieces(void **state)
{
    static const size_t sizes[] = {0, 1, 32 * 1024, 64 * 1024, MOST};
    unsigned i;

    (void)state;
    for (i = 0; i < ROUNDS; i++) {
        seed = i;
        size = i < 5 * 6 ? sizes[i % 5] : dice(MOST);
        arrives(i & 1 ? APPPOOL_SENDING_STORED : APPPOOL_SENDING_STREAMED,
                (apppool_sending_framing_t)(i / 5 % 3));
    }
}

static void without_a_body(void **state)
{
    fixture_t *f = begin(APPPOOL_SENDING_NO_BODY, APPPOOL_SENDING_CHUNKED);

    (void)state;
    send_all(f);
    assert_string_equal(f->got, "the head and more of it");
    assert_false(apppool_sending_has_more(&f->sending));
    end(f);
}

/* Until the app has taken something, the body could go to another process. */
static void body_that_cannot_be_read_again(void **state)
{
    fixture_t *f = begin(APPPOOL_SENDING_STREAMED, APPPOOL_SENDING_PLAIN);

    (void)state;
    size = 100;
    close(f->ends[1]);
    assert_int_equal(go_on(f), OK);
    assert_int_equal(given, 0);
    assert_true(f->sending.hung_up && !f->sending.sent);
    assert_true(apppool_sending_is_over(&f->sending));
    f->ends[1] = -1;
    end(f);
}

static void app_that_hangs_up(void **state)
{
    fixture_t *f = begin(APPPOOL_SENDING_STORED, APPPOOL_SENDING_PLAIN);

    (void)state;
    size = MOST;
    assert_int_equal(go_on(f), OK);
    assert_true(apppool_sending_is_held(&f->sending));
    close(f->ends[1]);
    assert_int_equal(go_on(f), OK);
    assert_true(f->sending.hung_up && f->sending.sent);
    assert_true(apppool_sending_is_over(&f->sending));
    assert_false(apppool_sending_is_held(&f->sending));
    f->ends[1] = -1;
    end(f);
}

static void client_that_fails(void **state)
{
    fixture_t *f = begin(APPPOOL_SENDING_STREAMED, APPPOOL_SENDING_PLAIN);

    (void)state;
    error = APR_EAGAIN;
    assert_int_equal(go_on(f), OK);
    assert_true(f->sending.waits && apppool_sending_has_more(&f->sending));
    f->s.timeout = 0;
    assert_int_equal(go_on(f), HTTP_REQUEST_TIME_OUT);
    error = APR_ECONNRESET;
    assert_int_equal(go_on(f), HTTP_BAD_REQUEST);
    end(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_body_in_any_pieces),
        cmocka_unit_test(without_a_body),
        cmocka_unit_test(body_that_cannot_be_read_again),
        cmocka_unit_test(app_that_hangs_up),
        cmocka_unit_test(client_that_fails),
    };
    size_t i;

    apr_initialize();
    apr_pool_create(&pool, NULL);
    list = apr_bucket_alloc_create(pool);
    for (i = 0; i < MOST; i++)
        body[i] = (char)(i % 251);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
