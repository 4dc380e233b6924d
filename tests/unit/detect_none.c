/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* What is said if no file of an app names a command. */

#include "detect/detect.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm/format/format.h"
#include "tests/unit/support/scene.h"
#include "tests/unit/support/temporary.h"

static char directory[TEMPORARY_MAX];
static detect_found_t found;

static int begin(void **state)
{
    (void)state;
    return !temporary_dir(directory, "apl-unit-none") || chdir(directory) != 0;
}

static int finish(void **state)
{
    char command[TEMPORARY_MAX + 16];

    (void)state;
    snprintf(command, sizeof command, "rm -r %s", directory);
    return chdir("/") != 0 || system(command) != 0;
}

static void put(const char *name, const char *text)
{
    FILE *f = fopen(name, "w");

    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static const char *not_detected(uint32_t protocol)
{
    const detect_config_t config = {
        .listen = APL_LISTEN_FD, .protocol = protocol, .concurrency = 1};

    assert_int_equal(detect_command(&config, &found), 0);
    return found.why;
}

static void the_error_names_what_was_looked_for(void **state)
{
    (void)state;
    assert_string_equal(not_detected(APL_HTTP),
                        "none of these files exists: Procfile, config.ru, "
                        "passenger_wsgi.py, wsgi.py, asgi.py, */wsgi.py, "
                        "package.json, server.js, app.js, app.py, main.py, "
                        "app.psgi");
    assert_string_equal(
        not_detected(APL_FCGI),
        "none of these files exists: Procfile, *.fcgi, index.php, "
        "public/index.php");
    assert_string_equal(not_detected(APL_SCGI),
                        "none of these files exists: Procfile");
    assert_int_equal(mkdir("app.js", 0700), 0);
    not_detected(APL_HTTP);
}

/* It does not say that these files are not there. */
static void the_error_names_files_that_give_no_command(void **state)
{
    (void)state;
    put("Procfile", "worker: sidekiq\n");
    put("package.json", "{\"scripts\": {\"test\": \"exit 1\"}}");
    assert_int_equal(mkdir("shop", 0700), 0);
    put("shop/wsgi.py", "");
    put("shop.fcgi", "");
    assert_string_equal(
        not_detected(APL_HTTP),
        "Procfile has no web: line that can be run; shop/wsgi.py needs a "
        "manage.py in AppRoot; package.json has no start script that can be "
        "run; none of these files exists: config.ru, passenger_wsgi.py, "
        "wsgi.py, asgi.py, server.js, app.js, app.py, main.py, app.psgi; "
        "shop.fcgi is for another AppProtocol");
    assert_string_equal(
        not_detected(APL_FCGI),
        "Procfile has no web: line that can be run; shop.fcgi has to be "
        "executable, with a plain name, and AppListen has to be fd; none of "
        "these files exists: index.php, public/index.php; shop/wsgi.py is for "
        "another AppProtocol");
    assert_string_equal(not_detected(APL_UWSGI),
                        "Procfile has no web: line that can be run; shop.fcgi "
                        "is for another AppProtocol");
    assert_int_equal(found.command[0], 0);
}

static void another_protocol_is_named(void **state)
{
    (void)state;
    put("index.php", "");
    assert_non_null(
        strstr(not_detected(APL_HTTP), "; index.php is for another"));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, finish)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_error_names_what_was_looked_for),
        TEST(the_error_names_files_that_give_no_command),
        TEST(another_protocol_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
