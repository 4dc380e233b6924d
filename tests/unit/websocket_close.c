/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Between which frames of a WebSocket httpd may send a close frame. */

#include "mod_apppool/backend/websocket_close.h"

#include <apr_general.h>
#include <string.h>

#include "tests/unit/support/scene.h"

static apr_bucket_alloc_t *list;
static apr_pool_t *pool;

static int begin(void **state)
{
    (void)state;
    apr_initialize();
    apr_pool_create(&pool, NULL);
    list = apr_bucket_alloc_create(pool);
    return 0;
}

static int may_say(const apppool_websocket_close_t *f)
{
    apppool_websocket_close_t copy = *f;
    apr_bucket_brigade *bb = apr_brigade_create(pool, list);
    int may = apppool_websocket_close_insert(&copy, bb);
    char is[16];
    apr_size_t n = sizeof is;

    apr_brigade_flatten(bb, is, &n);
    assert_int_equal(n, may ? 4 : 0);
    assert_memory_equal(is, "\x88\x02\x03\xe9", n);
    return may;
}

/* A frame, in pieces of that size: only its end is one. */
static void one_frame(const char *head, size_t n_head, size_t n, size_t piece)
{
    static char frame[70000];
    apppool_websocket_close_t f;
    size_t at, size, all = n_head + n;

    memset(&f, 0, sizeof f);
    memset(frame, 0x88, sizeof frame); /* each byte could be Close */
    memcpy(frame, head, n_head);
    assert_true(may_say(&f));
    for (at = 0; at < all; at += size) {
        size = all - at < piece ? all - at : piece;
        apppool_websocket_close_follow(&f, frame + at, size);
        assert_int_equal(may_say(&f), at + size == all);
    }
}

static void frames_of_any_size(void **state)
{
    static const size_t pieces[] = {1, 3, 1000, 100000};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        one_frame("\x81\x00", 2, 0, pieces[i]);
        one_frame("\x81\x7d", 2, 125, pieces[i]);
        one_frame("\x82\x7e\x01\x00", 4, 256, pieces[i]);
        one_frame("\x01\x7f\0\0\0\0\0\x01\0\0", 10, 65536, pieces[i]);
        one_frame("\x81\x85mask", 6, 5, pieces[i]);
        one_frame("\x81\xfe\x00\x7emask", 8, 126, pieces[i]);
    }
}

static void one_close_frame_is_sent(void **state)
{
    apppool_websocket_close_t f;
    apr_bucket_brigade *bb = apr_brigade_create(pool, list);

    (void)state;
    memset(&f, 0, sizeof f);
    apppool_websocket_close_follow(&f, "\x81\x01x\x88\x02\x03\xe8", 7);
    assert_false(may_say(&f)); /* the app has sent it */
    memset(&f, 0, sizeof f);
    assert_true(apppool_websocket_close_insert(&f, bb));
    assert_false(may_say(&f));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_of_any_size),
        cmocka_unit_test(one_close_frame_is_sent),
    };

    return cmocka_run_group_tests(tests, begin, NULL);
}
