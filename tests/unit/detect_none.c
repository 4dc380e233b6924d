/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* What is said if no file of an app names a command. */

#include "detect/detect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm/format/format.h"
#include "tests/unit/support/files.h"
#include "tests/unit/support/scene.h"

static detect_found_t found;

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
    files_mkdir("app.js");
    not_detected(APL_HTTP);
}

/* It does not say that these files are not there. */
static void the_error_names_files_that_give_no_command(void **state)
{
    (void)state;
    files_put("Procfile", "worker: sidekiq\n");
    files_put("package.json", "{\"scripts\": {\"test\": \"exit 1\"}}");
    files_put("shop/wsgi.py", "");
    files_put("shop.fcgi", "");
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
        "these files exists: index.php, public/index.php");
    assert_string_equal(not_detected(APL_UWSGI),
                        "Procfile has no web: line that can be run; shop.fcgi "
                        "is for another AppProtocol");
    assert_int_equal(found.command[0], 0);
}

static void another_protocol_is_named(void **state)
{
    (void)state;
    files_put("index.php", "");
    assert_non_null(
        strstr(not_detected(APL_HTTP), "; index.php is for another"));
}

/* The name that it binds is for no other server. */
static void a_framework_with_a_server(void **state)
{
    (void)state;
    files_put("main.py", "from aiohttp import web\napp = web.Application()\n");
    assert_non_null(
        strstr(not_detected(APL_HTTP),
               "main.py imports aiohttp, but does not show how it listens: "
               "AppCommand names the command that does; "));
}

static const char *reason(const char *file)
{
    size_t i;

    for (i = 0; i < found.n_candidates; i++)
        if (strcmp(found.candidates[i].file, file) == 0)
            return found.candidates[i].why;
    return "";
}

/* A program for development is installed, and is not what serves the site. */
static void scripts_of_a_php_site(void **state)
{
    const detect_config_t config = {
        .listen = APL_LISTEN_FD, .protocol = APL_AUTO, .lists = 1};

    (void)state;
    files_put("package.json",
              "{\"scripts\": {\"start\": \"wp-scripts start\"}}");
    files_put("node_modules/.bin/wp-scripts", "");
    assert_int_equal(detect_command(&config, &found), 1);
    assert_string_equal(found.file, "package.json");
    files_put("web/index.php", "");
    assert_int_equal(detect_command(&config, &found), 1);
    assert_string_equal(found.file, "web/index.php");
    assert_string_equal(reason("package.json"),
                        "its start script (wp-scripts start) is for "
                        "development, and web/index.php is there");
}

/* Of many files the one that wins is always listed. */
static void each_candidate_has_a_reason(void **state)
{
    const detect_config_t config = {
        .listen = APL_LISTEN_FD, .protocol = APL_AUTO, .lists = 1};
    char name[32];
    int i;

    (void)state;
    files_put("Procfile", "worker: sidekiq\n");
    for (i = 0; i < DETECT_CANDIDATES; i++) {
        snprintf(name, sizeof name, "site%02d/wsgi.py", i);
        files_put(name, "");
        snprintf(name, sizeof name, "site%02d/main.py", i);
        files_put(name, "import flask\n");
    }
    assert_int_equal(detect_command(&config, &found), 0);
    assert_int_equal(found.n_candidates, DETECT_CANDIDATES);
    assert_string_equal(reason("Procfile"), "has no web: line that can be run");
    assert_string_equal(reason("site00/wsgi.py"),
                        "needs a manage.py in AppRoot");
    files_put("app.psgi", "");
    assert_int_equal(detect_command(&config, &found), 1);
    assert_string_equal(reason("Procfile"), "has no web: line that can be run");
    assert_string_equal(reason("app.psgi"), "is there");
    files_put("a pl.pl", "use Mojolicious::Lite;");
    assert_int_equal(unlink("Procfile"), 0);
    assert_int_equal(system("rm -r site*"), 0);
    assert_int_equal(detect_command(&config, &found), 1);
    assert_string_equal(reason("a pl.pl"), "app.psgi comes first");
    assert_int_equal(unlink("app.psgi"), 0);
    assert_int_equal(detect_command(&config, &found), 0);
    assert_string_equal(reason("a pl.pl"), "gives no command");
}

/* A program has to be built, or has a port: its line is there to be copied. */
static void the_line_is_named(void **state)
{
    (void)state;
    files_put("target/shop-sources.jar", "");
    files_put("target/shop.jar", "");
    assert_non_null(strstr(
        not_detected(APL_HTTP),
        "; target/shop.jar is there: set AppListen tcp, and AppCommand \"java "
        "-jar target/shop.jar --server.address=127.0.0.1 "
        "--server.port=$PORT\""));
    assert_int_equal(system("rm -r target"), 0);
    files_put("go.mod", "");
    files_put("dist/index.html", ""); /* which the program serves */
    assert_non_null(
        strstr(not_detected(APL_HTTP),
               "; go.mod is there: go build, then set AppListen tcp, and "
               "AppCommand \"./NAME\", which has to listen on "
               "127.0.0.1:$PORT"));
    unlink("go.mod");
    files_put("util.py", "");
    files_put("view.py", "import streamlit as st\n");
    assert_int_equal(system("rm -r dist"), 0);
    assert_non_null(
        strstr(not_detected(APL_HTTP), "AppCommand \"streamlit run view.py "));
}

#define TEST(function)                                                         \
    cmocka_unit_test_setup_teardown(function, files_begin, files_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_error_names_what_was_looked_for),
        TEST(the_error_names_files_that_give_no_command),
        TEST(another_protocol_is_named),
        TEST(the_line_is_named),
        TEST(a_framework_with_a_server),
        TEST(scripts_of_a_php_site),
        TEST(each_candidate_has_a_reason),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
