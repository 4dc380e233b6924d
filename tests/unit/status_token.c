/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The token of a button: which user it is for, and for how long. */

#include "mod_apppool/status/status.h"

#include <apr_strings.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* Its own order matters. */
#include <cmocka.h>

#include "tests/unit/support/memory.h"

#define SECOND APR_INT64_C(1000000)
#define MINUTE (60 * SECOND)
#define BEGAN  (30000000 * MINUTE) /* a multiple of five minutes */

static request_rec *request(const char *user, apr_time_t when)
{
    request_rec *r = apr_pcalloc(memory, sizeof *r);

    r->pool = memory;
    r->user = apr_pstrdup(memory, user);
    r->request_time = when;
    return r;
}

static const char *made(const char *user, apr_time_t when)
{
    return apppool_status_token(request(user, when));
}

static int good(const char *token, const char *user, apr_time_t when)
{
    return apppool_status_token_ok(request(user, when), token);
}

static void p26_an_old_token_is_refused(void **state)
{
    apr_time_t when;

    (void)state;
    for (when = BEGAN; when < BEGAN + 5 * MINUTE; when += 7 * SECOND) {
        const char *token = made("alice", when);

        assert_true(good(token, "alice", when));
        assert_true(good(token, "alice", when + 15 * MINUTE));
        assert_false(good(token, "alice", when + 20 * MINUTE));
        assert_false(good(token, "alice", when + 24 * 60 * MINUTE));
    }
    assert_true(good(made("", BEGAN), "", BEGAN + 20 * MINUTE - 1));
    assert_false(good(made("", BEGAN), "", BEGAN + 20 * MINUTE));
}

/* The clock was set back: httpd could not have made it yet. */
static void p26_a_token_of_the_future_is_refused(void **state)
{
    (void)state;
    assert_false(good(made("", BEGAN), "", BEGAN - 1));
    assert_false(good(made("", BEGAN), "", 0));
}

/* A token with another time written into it is no valid token. */
static void p26_a_token_with_another_time_is_refused(void **state)
{
    const char *old = made("", BEGAN), *mac = strchr(old, '-');
    const char *new = made("", BEGAN + 60 * MINUTE);
    char *mixed = apr_pstrcat(
        memory, apr_pstrndup(memory, new, (size_t)(strchr(new, '-') - new)),
        mac, NULL);

    (void)state;
    assert_true(good(new, "", BEGAN + 60 * MINUTE));
    assert_false(good(mixed, "", BEGAN + 60 * MINUTE));
}

static void p26_each_user_has_another_token(void **state)
{
    const char *hers = made("alice", BEGAN), *nobodys = made(NULL, BEGAN);

    (void)state;
    assert_true(good(hers, "alice", BEGAN));
    assert_false(good(hers, "bob", BEGAN));
    assert_false(good(hers, "", BEGAN));
    assert_false(good(hers, NULL, BEGAN));
    assert_false(good(nobodys, "alice", BEGAN));
    assert_true(good(nobodys, NULL, BEGAN));
}

static void p26_another_key_makes_other_tokens(void **state)
{
    const char *token = made("", BEGAN);

    (void)state;
    assert_string_equal(token, made("", BEGAN));
    apppool_status_token_begin();
    assert_false(good(token, "", BEGAN));
}

static void p26_any_other_bytes_are_refused(void **state)
{
    const char *token = made("", BEGAN);
    size_t i;

    (void)state;
    for (i = 0; i < strlen(token); i++) {
        char *other = apr_pstrdup(memory, token);

        assert_false(good(apr_pstrndup(memory, token, i), "", BEGAN));
        other[i] = other[i] == 'x' ? 'y' : 'x';
        assert_false(good(other, "", BEGAN));
    }
    assert_false(good(apr_pstrcat(memory, token, "0", NULL), "", BEGAN));
    assert_false(good(apr_pstrcat(memory, " ", token, NULL), "", BEGAN));
    assert_false(good("-", "", BEGAN));
    assert_false(good("7fffffffffffffff-", "", BEGAN));
    assert_false(good("-8000000000000000-", "", BEGAN));
}

static int begin(void **state)
{
    int rv = memory_begin(state);

    apppool_status_token_begin();
    return rv;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(p26_an_old_token_is_refused),
        cmocka_unit_test(p26_a_token_of_the_future_is_refused),
        cmocka_unit_test(p26_a_token_with_another_time_is_refused),
        cmocka_unit_test(p26_each_user_has_another_token),
        cmocka_unit_test(p26_another_key_makes_other_tokens),
        cmocka_unit_test(p26_any_other_bytes_are_refused),
    };

    return cmocka_run_group_tests(tests, begin, memory_end);
}
