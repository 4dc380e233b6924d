/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Which command is the template of an app, by its files. */

#include "detect/detect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shm/format/format.h"
#include "base/contract.h"
#include "tests/unit/support/files.h"
#include "tests/unit/support/scene.h"

#define PRELOAD "\"$APPPOOL_HELPERS/python/preload.py\" "

static detect_found_t found;

static void rack_has_a_template(void **state)
{
    detect_config_t config = {.listen = APL_LISTEN_FD,
                              .protocol = APL_AUTO,
                              .concurrency = 3,
                              .is_template = CONTRACT_PRELOAD_AUTO};

    (void)state;
    files_put("config.ru", "");
    assert_int_equal(detect_command(&config, &found), 1);
    assert_string_equal(found.command,
                        "SCRIPT_NAME=\"$APPPOOL_BASE_URL\" ruby "
                        "\"$APPPOOL_HELPERS/ruby/preload.rb\" -t 1:3");
    files_put("Gemfile", "gem 'puma'\n");
    assert_int_equal(detect_command(&config, &found), 1);
    assert_string_equal(
        found.command, "SCRIPT_NAME=\"$APPPOOL_BASE_URL\" ruby -rbundler/setup "
                       "\"$APPPOOL_HELPERS/ruby/preload.rb\" -t 1:3");
    assert_string_equal(found.why,
                        "config.ru is there, and the Gemfile names puma");
    config.listen = APL_LISTEN_UNIX;
    assert_int_equal(detect_command(&config, &found), 0);
}

static void servers_of_python_have_a_template(void **state)
{
    detect_config_t config = {.listen = APL_LISTEN_FD,
                              .protocol = APL_AUTO,
                              .concurrency = APL_CONCURRENCY_AUTO,
                              .is_template = CONTRACT_PRELOAD_ON};

    (void)state;
    files_put("asgi.py", "");
    assert_int_equal(detect_command(&config, &found), 1);
    assert_non_null(strstr(found.command, PRELOAD "uvicorn --root-path "));
    assert_non_null(strstr(found.command, " --fd 3 asgi:application"));
    files_put("wsgi.py", "");
    assert_int_equal(detect_command(&config, &found), 1);
    assert_string_equal(found.command, "python3 " PRELOAD "wsgi");
    config.concurrency = 5;
    assert_int_equal(detect_command(&config, &found), 1);
    assert_string_equal(found.command,
                        "python3 " PRELOAD "gunicorn --workers 1 --threads 5 "
                        "--timeout 0 wsgi");
    config.is_template = CONTRACT_PRELOAD_AUTO; /* only if it is asked for */
    assert_int_equal(detect_command(&config, &found), 0);
}

static void other_servers_have_no_template(void **state)
{
    detect_config_t config = {.listen = APL_LISTEN_TCP,
                              .protocol = APL_AUTO,
                              .concurrency = 1,
                              .is_template = CONTRACT_PRELOAD_ON};

    (void)state;
    files_put("wsgi.py", "");
    assert_int_equal(detect_command(&config, &found), 0);
    assert_string_equal(found.why, "wsgi.py is there, and there is no template "
                                   "for the server that runs it");
    config.listen = APL_LISTEN_FD;
    files_put("Procfile", "web: ./run\n");
    assert_int_equal(detect_command(&config, &found), 0);
}

/* With AppReady notify. puma and gunicorn would say it too early, or not at
 * all. */
static void what_has_to_say_ready(void **state)
{
    detect_config_t config = {.listen = APL_LISTEN_FD,
                              .protocol = APL_AUTO,
                              .concurrency = 1,
                              .says_ready = 1};

    (void)state;
    files_put("wsgi.py", "");
    assert_int_equal(detect_command(&config, &found), 1);
    assert_string_equal(found.command, "python3 " PRELOAD "wsgi");
    files_put("config.ru", "");
    assert_int_equal(detect_command(&config, &found), 1);
    assert_string_equal(found.command,
                        "SCRIPT_NAME=\"$APPPOOL_BASE_URL\" ruby "
                        "\"$APPPOOL_HELPERS/ruby/preload.rb\" -t 1:1");
    config.listen = APL_LISTEN_TCP;
    assert_int_equal(detect_command(&config, &found), 0);
    assert_string_equal(found.why,
                        "config.ru is there, and the server that runs it does "
                        "not say READY=1 (AppReady accept does not need "
                        "that)");
    files_put("Procfile", "web: ./run\n"); /* it may say it */
    assert_int_equal(detect_command(&config, &found), 1);
    assert_string_equal(found.command, "./run");
}

#define TEST(function)                                                         \
    cmocka_unit_test_setup_teardown(function, files_begin, files_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(rack_has_a_template),
        TEST(servers_of_python_have_a_template),
        TEST(other_servers_have_no_template),
        TEST(what_has_to_say_ready),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
