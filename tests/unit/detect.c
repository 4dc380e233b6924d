/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Which command runs an app, by its files. */

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

static const char *detected_for(uint32_t protocol, uint32_t listen,
                                uint32_t concurrency)
{
    const detect_config_t config = {
        .listen = listen, .protocol = protocol, .concurrency = concurrency};

    assert_int_equal(detect_command(&config, &found), 1);
    return found.command;
}

static const char *detected(uint32_t listen, uint32_t concurrency)
{
    return detected_for(APL_HTTP, listen, concurrency);
}

static const char *not_detected(uint32_t protocol)
{
    const detect_config_t config = {
        .listen = APL_LISTEN_FD, .protocol = protocol, .concurrency = 1};

    assert_int_equal(detect_command(&config, &found), 0);
    return found.why;
}

static void procfile_has_the_first_word(void **state)
{
    (void)state;
    files_put("app.js", "");
    files_put("Procfile",
              "worker: sidekiq\n  web:   node x.js --a\r\nweb: no\n");
    assert_string_equal(detected(APL_LISTEN_FD, 1), "node x.js --a");
    assert_string_equal(found.why, "Procfile has a web: line");
    assert_string_equal(detected_for(APL_UWSGI, APL_LISTEN_TCP, 7),
                        "node x.js --a");
    files_put("Procfile", "worker: sidekiq\nweb:\n");
    assert_string_equal(detected(APL_LISTEN_FD, 1), "node app.js");
    files_put("Procfile", "");
    assert_string_equal(detected(APL_LISTEN_FD, 1), "node app.js");
}

static void rack_is_puma(void **state)
{
    (void)state;
    files_put("config.ru", "");
    assert_string_equal(
        detected(APL_LISTEN_FD, 1),
        "env -u NOTIFY_SOCKET SCRIPT_NAME=\"$APPPOOL_BASE_URL\" puma -t 1:1 "
        "--bind-to-activated-sockets only");
    assert_string_equal(
        detected(APL_LISTEN_UNIX, 5),
        "env -u NOTIFY_SOCKET SCRIPT_NAME=\"$APPPOOL_BASE_URL\" "
        "puma -t 1:5 -b unix://%s");
    assert_string_equal(
        detected(APL_LISTEN_TCP, 0),
        "env -u NOTIFY_SOCKET SCRIPT_NAME=\"$APPPOOL_BASE_URL\" puma -t 1:16 "
        "-b tcp://127.0.0.1:$PORT");
    files_put("Gemfile", "gem 'puma'\n");
    assert_non_null(strstr(detected(APL_LISTEN_FD, 1), " bundle exec puma -t"));
    assert_string_equal(found.file, "config.ru");
    assert_string_equal(found.why,
                        "config.ru is there, and the Gemfile names puma");
    files_program("bin/puma", "");
    assert_non_null(strstr(detected(APL_LISTEN_FD, 1), " bin/puma -t"));
}

/* Bundler keeps puma away from config.ru. */
static void rack_without_puma(void **state)
{
    const detect_config_t config = {.listen = APL_LISTEN_FD,
                                    .protocol = APL_AUTO};

    (void)state;
    files_put("config.ru", "require 'bundler/setup'\n");
    files_put("Gemfile", "gem 'sinatra'\n");
    not_detected(APL_AUTO);
    assert_non_null(strstr(found.why, "bundle add puma"));
    files_put("Gemfile.lock", "    rack (2.2)\n    unicorn (6.1.0)\n");
    assert_non_null(
        strstr(detected(APL_LISTEN_FD, 1), " bundle exec unicorn "));
    assert_string_equal(found.why,
                        "config.ru is there, and Gemfile.lock names unicorn");
    files_put("Gemfile.lock", "    thin (1.8)\n");
    files_put("app.js", "");
    assert_non_null(strstr(detected(APL_LISTEN_UNIX, 1), " thin start -S %s"));
    /* It gets the socket like any `thin start`; see detect_line.h. */
    assert_string_equal(detected(APL_LISTEN_FD, 1),
                        "env -u NOTIFY_SOCKET bundle exec thin start");
    files_put("Gemfile.lock", "    falcon (0.42)\n");
    assert_int_equal(detect_command(&config, &found), 0);
    assert_string_equal(found.why,
                        "config.ru is there, and Gemfile.lock names falcon, "
                        "and bundle exec falcon cannot listen in this way: set "
                        "AppListen tcp");
    assert_non_null(strstr(detected(APL_LISTEN_TCP, 1), " falcon serve "));
    files_put("config.ru", "run 1\n"); /* without Bundler */
    assert_non_null(strstr(detected(APL_LISTEN_FD, 1), " puma -t 1:1"));
}

#define LOADER "\"$APPPOOL_HELPERS/python/wsgi.py\" "

static void wsgi_is_our_loader(void **state)
{
    (void)state;
    files_put("wsgi.py", "");
    assert_string_equal(detected(APL_LISTEN_FD, 1), "python3 " LOADER "wsgi");
    files_put("passenger_wsgi.py", "");
    assert_string_equal(detected(APL_LISTEN_UNIX, 1),
                        "python3 " LOADER "--listen %s passenger_wsgi");
    assert_string_equal(detected(APL_LISTEN_TCP, 1),
                        "python3 " LOADER "--listen %s passenger_wsgi");
    files_program(".venv/bin/python", "");
    assert_string_equal(detected(APL_LISTEN_FD, 1),
                        ".venv/bin/python " LOADER "passenger_wsgi");
    assert_string_equal(found.why,
                        "passenger_wsgi.py is there, and .venv/bin/python");
}

/* The loader serves one request at a time. */
static void wsgi_with_threads_is_gunicorn(void **state)
{
    (void)state;
    files_put("wsgi.py", "");
    assert_string_equal(detected(APL_LISTEN_FD, 5),
                        "env -u NOTIFY_SOCKET gunicorn --workers 1 "
                        "--threads 5 --timeout 0 wsgi");
    assert_string_equal(detected(APL_LISTEN_UNIX, 0),
                        "env -u NOTIFY_SOCKET gunicorn --workers 1 "
                        "--threads 16 --timeout 0 --bind unix:%s wsgi");
}

static void manage_is_django(void **state)
{
    (void)state;
    files_put("shop/wsgi.py", "");
    not_detected(APL_HTTP);
    files_put("manage.py", "");
    files_put("package.json", "{\"scripts\": {\"start\": \"webpack\"}}");
    assert_string_equal(detected(APL_LISTEN_FD, 1),
                        "python3 " LOADER "shop.wsgi");
    assert_string_equal(found.why, "manage.py and shop/wsgi.py are there");
    rename("shop", "a shop");
    assert_non_null(strstr(detected(APL_LISTEN_FD, 1), "webpack"));
    rename("a shop", "shop");
}

#define OF_NPM "env PATH=\"$PWD/node_modules/.bin:$PATH\" "
#define LIST   "export PATH=\"$PWD/node_modules/.bin:$PATH\"; "

static void procfile_starts_npm(void **state)
{
    char script[2048];

    (void)state;
    files_put("package.json", "{\"scripts\": {\"start\": \"next start\"}}");
    files_put("Procfile", "web: npm start\n");
    assert_string_equal(detected(APL_LISTEN_FD, APL_CONCURRENCY_AUTO),
                        OF_NPM "next start");
    assert_true(found.runs_node);
    assert_int_equal(found.concurrency, 0);
    assert_string_equal(
        found.why,
        "Procfile has a web: line: the start script of package.json");
    files_put("Procfile", "web: npm start --silent\n");
    assert_string_equal(detected(APL_LISTEN_FD, 1), OF_NPM "next start");
    files_put("Procfile", "web: yarn start\n");
    files_put("package.json", "{\"scripts\": {\"start\": \"x\", "
                              "\"prestart\": \"y\"}}");
    assert_string_equal(detected(APL_LISTEN_FD, 1), LIST "y && x");
    /* A script that does not fit is no script. */
    snprintf(script, sizeof script, "{\"scripts\": {\"start\": \"%01500d\"}}",
             0);
    files_put("package.json", script);
    assert_string_equal(detected(APL_LISTEN_FD, 1), "yarn start");
    assert_string_equal(found.why, "Procfile has a web: line");
    assert_string_equal(found.package.event, "");
    unlink("package.json");
    assert_string_equal(detected(APL_LISTEN_FD, 1), "yarn start");
}

/* The last command serves, or does not. */
static void a_start_script_that_builds(void **state)
{
    static const struct {
        const char *start;
        int serves;
    } cases[] = {
        {"tsc && node dist/server.js", 1},
        {"npx webpack && NODE_ENV=production node x.js", 1},
        {"node x.js & webpack --watch", 1},
        {"tsc", 0},
        {"webpack --watch", 0},
        {"npm run lint && npx --yes webpack", 0},
        {"A=b cross-env C=d webpack", 0},
        {"webpack serve", 0}, /* it is not installed */
        {"dotenv -- vite", 0},
    };
    char text[128];
    size_t i;

    (void)state;
    files_put("app.js", "");
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(text, sizeof text, "{\"scripts\": {\"start\": \"%s\"}}",
                 cases[i].start);
        files_put("package.json", text);
        detected(APL_LISTEN_FD, 1);
        if ((strcmp(found.file, "package.json") == 0) != cases[i].serves)
            fail_msg("%s: %s", cases[i].start, found.command);
    }
    files_program("node_modules/.bin/vite", "");
    assert_non_null(strstr(detected(APL_LISTEN_FD, 1), "dotenv -- vite"));
}

static void package_start_goes_before_names(void **state)
{
    (void)state;
    files_put("app.js", "");
    files_put("server.js", "");
    files_put("package.json", "{\"scripts\": {\"test\": \"x\"}}");
    assert_string_equal(detected(APL_LISTEN_FD, 1), "node server.js");
    files_put("package.json", "{\"scripts\": {\"start\": \"next start\"}}");
    assert_string_equal(detected(APL_LISTEN_FD, 1), OF_NPM "next start");
    files_put("package.json",
              "{\"scripts\": {\"start\": \"cross-env A=b node x\"}}");
    assert_string_equal(detected(APL_LISTEN_FD, 1), OF_NPM "A=b node x");
    files_put(
        "package.json",
        "{\"scripts\": {\"start\": \"cd a && b && cross-env C=d node x\"}}");
    assert_string_equal(detected(APL_LISTEN_FD, 1),
                        LIST "cd a && b && cross-env C=d node x");
    files_put("package.json", "{\"scripts\": {\"start\": \"a && b; c\"}}");
    assert_string_equal(detected(APL_LISTEN_FD, 1), LIST "a && b; c");
    files_put("package.json", "{\"scripts\": [");
    assert_string_equal(detected(APL_LISTEN_FD, 1), "node server.js");
}

static void asgi_is_uvicorn(void **state)
{
    (void)state;
    files_put("asgi.py", "");
    assert_string_equal(detected(APL_LISTEN_FD, 1),
                        "uvicorn --root-path \"$APP_BASE_URI\" "
                        "--no-access-log --fd 3 asgi:application");
    assert_string_equal(detected(APL_LISTEN_UNIX, 0),
                        "uvicorn --root-path \"$APP_BASE_URI\" "
                        "--no-access-log --uds %s asgi:application");
    files_put("wsgi.py", "");
    assert_non_null(strstr(detected(APL_LISTEN_FD, 1), "/wsgi.py\" wsgi"));
}

static void fastcgi_is_php_or_a_program(void **state)
{
    (void)state;
    files_put("public/index.php", "");
    files_program("a b.fcgi", "");
    assert_string_equal(detected_for(APL_FCGI, APL_LISTEN_FD, 1),
                        "env PHP_FCGI_MAX_REQUESTS=0 php-cgi ");
    assert_string_equal(found.file, "public/index.php");
    assert_string_equal(detected_for(APL_FCGI, APL_LISTEN_TCP, 4),
                        "env PHP_FCGI_MAX_REQUESTS=0 PHP_FCGI_CHILDREN=4 "
                        "php-cgi -b %s");
    files_put("shop.fcgi", "");
    assert_non_null(
        strstr(detected_for(APL_FCGI, APL_LISTEN_FD, 1), "php-cgi"));
    chmod("shop.fcgi", 0700);
    assert_string_equal(detected_for(APL_FCGI, APL_LISTEN_FD, 1),
                        "./shop.fcgi");
    assert_non_null(
        strstr(detected_for(APL_FCGI, APL_LISTEN_UNIX, 1), "php-cgi"));
}

/* It opens a port by itself, and its server says how many requests it takes. */
static void a_program_that_listens_gets_the_helper(void **state)
{
    const detect_config_t auto_tcp = {.listen = APL_LISTEN_TCP,
                                      .protocol = APL_AUTO};

    (void)state;
    files_put("index.js", "");
    files_put("main.py", "import tornado.web\nApp().listen(8888)\n");
    assert_string_equal(
        detected(APL_LISTEN_FD, APL_CONCURRENCY_AUTO),
        "python3 \"$APPPOOL_HELPERS/python/listen.py\" main.py");
    assert_string_equal(found.why, "main.py listens by itself (Tornado)");
    assert_int_equal(found.concurrency, 0);
    files_put("main.py", "import waitress\nwaitress.serve(app, port=80)\n");
    detected(APL_LISTEN_FD, APL_CONCURRENCY_AUTO);
    assert_int_equal(found.concurrency, 4);
    assert_int_equal(detect_command(&auto_tcp, &found), 0);
    assert_non_null(strstr(found.why, "set AppListen fd"));
    files_put("main.py",
              "import uvloop\nfrom aiohttp import web\nweb.run_app(a)\n");
    assert_string_equal(detected(APL_LISTEN_FD, 1), "node index.js");
    files_put("main.py", "import waitress\nshop.run(80)\n");
    assert_string_equal(detected(APL_LISTEN_FD, 1), "node index.js");
    unlink("index.js");
}

/* As in the directory in which its author starts it; but a module of AppRoot
 * is not hidden by one of another directory. */
static void a_file_finds_those_beside_it(void **state)
{
    static const char path[] = "PYTHONPATH=\"shop:$PYTHONPATH\" uvicorn ";

    (void)state;
    mkdir("shop", 0700);
    files_put("shop/main.py",
              "from fastapi import FastAPI\nfrom  config import x\n"
              "app = FastAPI()\n");
    assert_null(strstr(detected(APL_LISTEN_FD, 1), "PYTHONPATH"));
    files_put("shop/config.py", "");
    assert_ptr_equal(strstr(detected(APL_LISTEN_FD, 1), path), found.command);
    assert_non_null(strstr(found.command, " shop.main:app"));
    files_put("config.py", "");
    assert_null(strstr(detected(APL_LISTEN_FD, 1), "PYTHONPATH"));
}

static void nothing_is_configured(void **state)
{
    static const struct {
        const char *file, *text;
        uint32_t protocol, concurrency;
        const char *command;
        int runs_node, runs_ruby;
    } cases[] = {
        {"public/index.php", "", APL_FCGI, 5, "PHP_FCGI_CHILDREN=5 php-cgi", 0,
         0},
        {"app.js", "", APL_HTTP, 0, "node app.js", 1, 0},
        {"server.js", "", APL_HTTP, 0, "node server.js", 1, 0},
        {"package.json", "{\"scripts\": {\"start\": \"./serve\"}}", APL_HTTP, 0,
         "./serve", 1, 0},
        {"asgi.py", "", APL_HTTP, 0, "uvicorn", 0, 0},
        {"wsgi.py", "", APL_HTTP, 1, "python3 ", 0, 0},
        {"config.ru", "", APL_HTTP, 1, "-t 1:1 ", 0, 1},
        {"Procfile", "web: bundle exec puma", APL_HTTP, 1, "bundle", 0, 1},
        {"Procfile", "web: A=b exec /usr/bin/node x.js", APL_HTTP, 0, "x.js", 1,
         0},
    };
    const detect_config_t config = {.listen = APL_LISTEN_FD,
                                    .protocol = APL_AUTO,
                                    .concurrency = APL_CONCURRENCY_AUTO};
    const char *file;
    size_t i;

    (void)state;
    assert_int_equal(detect_protocol(".", &file), APL_AUTO);
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        files_put(cases[i].file, cases[i].text);
        assert_int_equal(detect_command(&config, &found), 1);
        assert_int_equal(found.protocol, cases[i].protocol);
        assert_int_equal(found.concurrency, cases[i].concurrency);
        assert_non_null(strstr(found.command, cases[i].command));
        assert_int_equal(found.runs_node, cases[i].runs_node);
        assert_int_equal(found.runs_ruby, cases[i].runs_ruby);
        assert_int_equal(detect_protocol(".", &file), cases[i].protocol);
        assert_string_equal(file, cases[i].file);
    }
}

static void files_say_that_it_is_php(void **state)
{
    static const char *const files[] = {"Procfile", "public/index.php",
                                        "app.js"};
    size_t i;

    (void)state;
    for (i = 0; i < 3; i++) { /* the next one is added */
        files_put(files[i], "");
        assert_int_equal(detect_is_php(".", APL_AUTO), i == 1);
        assert_int_equal(detect_is_php(".", APL_FCGI), i >= 1);
    }
}

static void a_command_is_given(void **state)
{
    static const struct {
        const char *command;
        uint32_t concurrency;
        int runs_node, runs_ruby;
    } cases[] = {{"node app.js", 0, 1, 0},
                 {"/opt/venv/bin/uvicorn --fd 3 a:b", 0, 0, 0},
                 {"env -i PATH=/bin npm start", 0, 0, 0},
                 {"env -u node uvicorn a:b", 0, 0, 0},
                 {"NODE_ENV=test  node x", 0, 1, 0},
                 {"exec /usr/bin/nodejs", 0, 1, 0},
                 {"./nodes", 1, 0, 0},
                 {"gunicorn node", 1, 0, 0},
                 {"bin/rails server", 1, 0, 1},
                 {"A=b ruby preload.rb", 1, 0, 1},
                 {"rackup", 1, 0, 1},
                 {"puma -w 2", 2, 0, 1},
                 {"", 1, 0, 0}};
    detect_config_t config = {.listen = APL_LISTEN_FD,
                              .protocol = APL_AUTO,
                              .concurrency = APL_CONCURRENCY_AUTO};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        detect_given(&config, cases[i].command, &found);
        assert_int_equal(found.protocol, APL_HTTP);
        assert_int_equal(found.concurrency, cases[i].concurrency);
        assert_int_equal(found.runs_node, cases[i].runs_node);
        assert_int_equal(found.runs_ruby, cases[i].runs_ruby);
    }
    config = (detect_config_t){
        .listen = APL_LISTEN_FD, .protocol = APL_SCGI, .concurrency = 7};
    detect_given(&config, "node app.js", &found);
    assert_int_equal(found.protocol, APL_SCGI);
    /* The number of the files is kept, in case the configuration says auto
     * again. */
    assert_int_equal(found.concurrency, 0);
}

#define TEST(function)                                                         \
    cmocka_unit_test_setup_teardown(function, files_begin, files_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(procfile_has_the_first_word),
        TEST(rack_is_puma),
        TEST(rack_without_puma),
        TEST(wsgi_is_our_loader),
        TEST(wsgi_with_threads_is_gunicorn),
        TEST(manage_is_django),
        TEST(procfile_starts_npm),
        TEST(a_start_script_that_builds),
        TEST(package_start_goes_before_names),
        TEST(asgi_is_uvicorn),
        TEST(fastcgi_is_php_or_a_program),
        TEST(a_program_that_listens_gets_the_helper),
        TEST(a_file_finds_those_beside_it),
        TEST(nothing_is_configured),
        TEST(files_say_that_it_is_php),
        TEST(a_command_is_given),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
