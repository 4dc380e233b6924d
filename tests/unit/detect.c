/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Which command runs an app, by its files. */

#include "spawner/detect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm/format.h"
#include "tests/unit/scene.h"

static char directory[64];
static char command[DETECT_MAX];

static int begin(void **state)
{
    (void)state;
    snprintf(directory, sizeof directory, "/tmp/apl-unit-detect-XXXXXX");
    return !mkdtemp(directory) || chdir(directory) != 0;
}

static int finish(void **state)
{
    static const char *const files[] = {
        "Procfile",     "config.ru", "Gemfile", "passenger_wsgi.py", "wsgi.py",
        "package.json", "server.js", "app.js",  "bin/puma"};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof files / sizeof *files; i++)
        unlink(files[i]);
    rmdir("bin");
    return chdir("/") != 0 || rmdir(directory) != 0;
}

static void put(const char *name, const char *text)
{
    FILE *f = fopen(name, "w");

    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static const char *detected(uint32_t listen, uint32_t concurrency)
{
    assert_int_equal(detect_command(command, listen, concurrency), 1);
    return command;
}

static void nothing_names_what_was_looked_for(void **state)
{
    (void)state;
    assert_int_equal(detect_command(command, APL_LISTEN_FD, 1), 0);
    assert_string_equal(command,
                        "Procfile, config.ru, passenger_wsgi.py, wsgi.py, "
                        "package.json, server.js, app.js");
    assert_int_equal(mkdir("app.js", 0700), 0);
    assert_int_equal(detect_command(command, APL_LISTEN_FD, 1), 0);
    rmdir("app.js");
}

static void procfile_has_the_first_word(void **state)
{
    (void)state;
    put("app.js", "");
    put("Procfile", "worker: sidekiq\n  web:   node x.js --a\r\nweb: no\n");
    assert_string_equal(detected(APL_LISTEN_FD, 1), "node x.js --a");
    put("Procfile", "worker: sidekiq\nweb:\n");
    assert_string_equal(detected(APL_LISTEN_FD, 1), "node app.js");
    put("Procfile", "");
    assert_string_equal(detected(APL_LISTEN_FD, 1), "node app.js");
}

static void rack_is_puma(void **state)
{
    (void)state;
    put("config.ru", "");
    assert_string_equal(detected(APL_LISTEN_FD, 1),
                        "env -u NOTIFY_SOCKET puma -t 1:1 "
                        "--bind-to-activated-sockets only");
    assert_string_equal(detected(APL_LISTEN_UNIX, 5),
                        "env -u NOTIFY_SOCKET puma -t 1:5 -b unix://%s");
    assert_string_equal(detected(APL_LISTEN_TCP, 0),
                        "env -u NOTIFY_SOCKET puma -t 1:16 "
                        "-b tcp://127.0.0.1:$PORT");
    put("Gemfile", "gem 'puma'\n");
    assert_non_null(strstr(detected(APL_LISTEN_FD, 1), " bundle exec puma -t"));
    mkdir("bin", 0700);
    put("bin/puma", "");
    chmod("bin/puma", 0700);
    assert_non_null(strstr(detected(APL_LISTEN_FD, 1), " bin/puma -t"));
}

static void wsgi_is_gunicorn(void **state)
{
    (void)state;
    put("wsgi.py", "");
    assert_string_equal(detected(APL_LISTEN_FD, 1),
                        "env -u NOTIFY_SOCKET gunicorn --workers 1 "
                        "--threads 1 --timeout 0 wsgi");
    put("passenger_wsgi.py", "");
    assert_string_equal(detected(APL_LISTEN_UNIX, 2),
                        "env -u NOTIFY_SOCKET gunicorn --workers 1 "
                        "--threads 2 --timeout 0 --bind unix:%s "
                        "passenger_wsgi");
}

static void package_start_goes_before_names(void **state)
{
    (void)state;
    put("app.js", "");
    put("server.js", "");
    put("package.json", "{\"scripts\": {\"test\": \"x\"}}");
    assert_string_equal(detected(APL_LISTEN_FD, 1), "node server.js");
    put("package.json", "{\"scripts\": {\"start\": \"next start\"}}");
    assert_string_equal(detected(APL_LISTEN_FD, 1),
                        "env PATH=\"$PWD/node_modules/.bin:$PATH\" "
                        "next start");
    put("package.json", "{\"scripts\": [");
    assert_string_equal(detected(APL_LISTEN_FD, 1), "node server.js");
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, finish)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nothing_names_what_was_looked_for),
        TEST(procfile_has_the_first_word),
        TEST(rack_is_puma),
        TEST(wsgi_is_gunicorn),
        TEST(package_start_goes_before_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
