/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* How many requests a command takes at once. */

#include "detect/detect_program.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm/format/format.h"
#include "tests/unit/support/files.h"
#include "tests/unit/support/scene.h"

static detect_found_t found;
static const char *const *variables; /* NAME=value of AppSetEnv */

static int begin(void **state)
{
    variables = NULL;
    return files_begin(state);
}

static const char *value_of(const void *context, const char *name)
{
    size_t i, n = strlen(name);

    (void)context;
    for (i = 0; variables && variables[i]; i++)
        if (strncmp(variables[i], name, n) == 0 && variables[i][n] == '=')
            return variables[i] + n + 1;
    return NULL;
}

static uint32_t requests_of(const char *command)
{
    const detect_config_t config = {.concurrency = APL_CONCURRENCY_AUTO,
                                    .variable = value_of};

    memset(&found, 0, sizeof found);
    detect_program_know(command, &config, &found);
    return found.suitable;
}

static void any_number(void **state)
{
    static const char *const commands[] = {
        "uvicorn --fd 3 a:b",
        "python3 -m uvicorn --fd 3 a:b",
        "venv/bin/python3.11 -u -m uvicorn a:b",
        "uv run --frozen uvicorn a:b",
        "poetry run python -m hypercorn a:b",
        "hypercorn a:b",
        "daphne -u /run/x a:b",
        "granian --interface asgi a:b",
        "fastapi run main.py",
        "gunicorn -k uvicorn.workers.UvicornWorker a:b",
        "gunicorn --worker-class=gevent a:b",
        "bundle exec gunicorn -kuvicorn_worker.UvicornWorker a:b",
        "cd web && exec env A=b uvicorn a:b",
        "sh -c 'true && exec uvicorn a:b'",
        "uv run --with gunicorn uvicorn a:b",
        "python3 -X dev -W error -m uvicorn a:b",
        "env -u A ddtrace-run uvicorn a:b",
        "newrelic-admin run-program uvicorn a:b",
        "tini -g -- uvicorn a:b",
        "yarn start",
        "npx next start",
        "next start",
        "serve-it", /* of node_modules/.bin */
    };
    size_t i;

    (void)state;
    files_program("node_modules/.bin/serve-it", "");
    for (i = 0; i < sizeof commands / sizeof *commands; i++)
        if (requests_of(commands[i]) != 0)
            fail_msg("%s: %u", commands[i], found.suitable);
}

static void options(void **state)
{
    static const struct {
        const char *command;
        uint32_t number;
        const char *counted;
    } cases[] = {
        {"gunicorn a:b", 1, ""},
        {"gunicorn --threads 4 a:b", 4, "gunicorn has 4 threads"},
        {"gunicorn -w4 a:b", 4,
         "gunicorn has 1 thread in each of 4 workers of its own"},
        {"gunicorn --workers=2 --threads=3 a:b", 6,
         "gunicorn has 3 threads in each of 2 workers of its own"},
        {"uvicorn --workers 2 a:b", 0,
         "uvicorn takes any number in each of 2 workers of its own"},
        {"WEB_CONCURRENCY=3 gunicorn a:b", 3,
         "gunicorn has 1 thread in each of 3 workers of its own"},
        {"gunicorn -w ${WEB_CONCURRENCY:-2} a:b", 2,
         "gunicorn has 1 thread in each of 2 workers of its own"},
        {"gunicorn -w $N a:b", 1,
         "the workers of gunicorn cannot be read and count 1: AppConcurrency "
         "sets the number"},
        {"bundle exec puma -t 1:5", 5, "puma has 5 threads"},
        {"puma --threads 2:${RAILS_MAX_THREADS:-3} -w 2", 6,
         "puma has 3 threads in each of 2 workers of its own"},
        {"puma", 1, ""},
        {"waitress-serve --threads=8 a:b", 8, "waitress-serve has 8 threads"},
        {"granian --interface wsgi --blocking-threads 4 a:b", 4,
         "granian has 4 threads"},
        {"gunicorn -w 100000 a:b", 1,
         "the workers of gunicorn cannot be read and count 1: AppConcurrency "
         "sets the number"},
        {"./gunicorn.sh -w 4", 1, ""},
        {"gunicorn --threads 4 a:b 2>&1 | tee log", 4,
         "gunicorn has 4 threads"},
        {"export WEB_CONCURRENCY=3 && gunicorn a:b", 3,
         "gunicorn has 1 thread in each of 3 workers of its own"},
        {"env WEB_CONCURRENCY=3 gunicorn a:b", 3,
         "gunicorn has 1 thread in each of 3 workers of its own"},
        {"GUNICORN_CMD_ARGS='-w 2 --threads 3' gunicorn a:b", 6,
         "gunicorn has 3 threads in each of 2 workers of its own"},
        {"uwsgi --http-socket :1 -p4", 4,
         "uwsgi has 1 thread in each of 4 workers of its own"},
        {"uv run shop", 1, ""},
        {"./start.sh", 6,
         "gunicorn has 3 threads in each of 2 workers of its own"},
        {"A=1 bash -lc './start.sh'", 6,
         "gunicorn has 3 threads in each of 2 workers of its own"},
        {"WEB_CONCURRENCY=3 sh -c 'exec gunicorn a:b'", 3,
         "gunicorn has 1 thread in each of 3 workers of its own"},
        {"bin/entry gunicorn --threads 4 a:b", 4, "gunicorn has 4 threads"},
        {"bin/rails server -p 1", 1, ""}, /* whatever its first line is */
        {"echo gunicorn -w 4", 1, ""},
    };
    size_t i;

    (void)state;
    files_program("start.sh",
                  "#!/bin/sh\nexec gunicorn -w 2 --threads 3 a:b\n");
    files_program("bin/entry", "#!/bin/sh\nexec \"$@\"\n");
    files_program("bin/rails", "#!/usr/bin/env node\n");
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(requests_of(cases[i].command), cases[i].number);
        assert_string_equal(found.counted, cases[i].counted);
    }
}

static void variables_of_the_configuration(void **state)
{
    static const char *const all[] = {"GUNICORN_CMD_ARGS=--threads=4 -w 2",
                                      "WEB_CONCURRENCY=7", NULL};
    static const char *const async[] = {
        "GUNICORN_CMD_ARGS=-k uvicorn.workers.UvicornWorker", NULL};

    (void)state;
    variables = all;
    assert_int_equal(requests_of("gunicorn a:b"), 8);
    assert_int_equal(requests_of("gunicorn --threads 1 a:b"), 2);
    assert_int_equal(requests_of("puma -t 1:2"), 14);
    variables = async;
    assert_int_equal(requests_of("gunicorn a:b"), 0);
    assert_int_equal(requests_of("GUNICORN_CMD_ARGS=--worker-class=gevent "
                                 "gunicorn a:b"),
                     0);
}

static void lines_of_gunicorn(void **state)
{
    (void)state;
    files_put("gunicorn.conf.py", "import os\nbind = 'x'\nworkers = 2  # two\n"
                                  "threads = int(os.environ.get('T', '4'))\n");
    assert_int_equal(requests_of("gunicorn a:b"), 8);
    assert_int_equal(requests_of("gunicorn --workers 1 a:b"), 4);
    files_put("gunicorn.conf.py",
              "workers = multiprocessing.cpu_count() * 2 + 1\n");
    assert_int_equal(requests_of("gunicorn a:b"), 1);
    assert_non_null(strstr(found.counted, "the workers of gunicorn.conf.py "
                                          "cannot be read and count 1"));
    files_put(
        "gunicorn.conf.py",
        "worker_class = \"uvicorn.workers.UvicornWorker\"\nworkers = 4\n");
    assert_int_equal(requests_of("gunicorn a:b"), 0);
    assert_non_null(strstr(found.counted, "in each of 4 workers"));
    assert_int_equal(requests_of("gunicorn -c gone.py a:b"), 1);
    assert_non_null(strstr(found.counted, "the numbers of gone.py cannot"));
}

static void lines_of_puma(void **state)
{
    static const char *const all[] = {"RAILS_MAX_THREADS=9", NULL};

    (void)state;
    files_put(
        "config/puma.rb",
        "threads_count = ENV.fetch(\"RAILS_MAX_THREADS\", 3)\n"
        "threads threads_count, threads_count\nport ENV.fetch(\"PORT\", 3000)\n"
        "# workers 4\n");
    assert_int_equal(requests_of("bundle exec puma -C config/puma.rb"), 3);
    assert_int_equal(requests_of("bin/rails server"), 3);
    variables = all;
    assert_int_equal(requests_of("puma"), 9);
    variables = NULL;
    files_put("config/puma.rb",
              "max_threads_count = ENV.fetch(\"RAILS_MAX_THREADS\") { 5 }\n"
              "min_threads_count = ENV.fetch(\"RAILS_MIN_THREADS\") "
              "{ max_threads_count }\n"
              "threads min_threads_count, max_threads_count\n"
              "workers ENV.fetch(\"WEB_CONCURRENCY\") { 2 }\n");
    assert_int_equal(requests_of("puma"), 10);
    files_put("other.rb", "threads 0, Integer(ENV['X'] || 6)\n");
    assert_int_equal(requests_of("puma -C other.rb"), 6);
    files_put("other.rb", "threads 0, Etc.nprocessors\n");
    assert_int_equal(requests_of("puma -C ./other.rb"), 1);
    assert_non_null(strstr(found.counted, "the threads of other.rb cannot"));
}

/* httpd -t asks for them, where no file counts. */
static void workers(void **state)
{
    static const char *const all[] = {"WEB_CONCURRENCY=7", NULL};
    static const struct {
        const char *command, *name;
        int n;
    } cases[] = {{"gunicorn -w 4 a:b", "--workers", 4},
                 {"bundle exec puma -w2", "--workers", 2},
                 {"uvicorn --workers 3 a:b", "--workers", 3},
                 {"uwsgi --processes 2", "--processes", 2},
                 {"sh -c 'gunicorn a:b'", "WEB_CONCURRENCY", 7},
                 {"bin/rails server", "WEB_CONCURRENCY", 7},
                 {"gunicorn -w 1 a:b", NULL, 1},
                 {"node server.js", NULL, 1}};
    const detect_config_t config = {.variable = value_of};
    const char *name;
    size_t i;

    (void)state;
    variables = all;
    files_put("gunicorn.conf.py", "workers = 9\n");
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(
            detect_program_workers(cases[i].command, &config, &name),
            cases[i].n);
        if (cases[i].name)
            assert_string_equal(name, cases[i].name);
    }
}

/* What is odd counts 1, and is said. */
static void odd_lines(void **state)
{
    static const struct {
        const char *file, *text, *command;
        uint32_t number;
        const char *unread; /* NULL: all is read */
    } cases[] = {
        {"config/puma.rb", "# threads 1, 5\n#workers 2\n", "puma", 1, NULL},
        {"config/puma.rb", "threads 1, 5 # 9\nworkers 2#9\n", "puma", 10, NULL},
        {"config/puma.rb", "threads 1, 5\nthreads 1, 3\n", "puma", 3, NULL},
        {"config/puma.rb", "threads 1, 5\r\nworkers 2\r\n", "puma", 10, NULL},
        {"config/puma.rb", "workers 2; preload_app!\n", "puma", 2, NULL},
        {"config/puma.rb", "threads(1, 4)\n", "puma", 4, NULL},
        {"config/puma.rb", "workers 2 if ENV['X']\n", "puma", 1,
         "the workers of config/puma.rb cannot"},
        {"config/puma.rb", "if x\n  workers 4\nend\nthreads 1, -5\n", "puma", 1,
         "the workers of config/puma.rb and the threads of config/puma.rb "
         "cannot"},
        {"config/puma.rb", "workers 4\n", "WEB_CONCURRENCY=2 puma", 4, NULL},
        {"config/puma.rb", "", "WEB_CONCURRENCY=auto puma", 1,
         "the workers of WEB_CONCURRENCY cannot"},
        {"config/puma.rb", "workers 9999\n", "puma -w 2", 2, NULL},
        {"config/puma.rb", "threads 1, 5\n", "puma -t $N", 1,
         "the threads of puma cannot"},
        {"config/puma.rb", "threads 0, 0\n", "puma", 1, NULL},
        {"gunicorn.conf.py", "workers: int = 2\nthreads=3\n", "gunicorn a:b", 6,
         NULL},
        {"gunicorn.conf.py", "workers = 2\nif x:\n    workers = 4\n",
         "gunicorn a:b", 1, "the workers of gunicorn.conf.py cannot"},
        {"gunicorn.conf.py", "workers_per_core = 3\n", "gunicorn a:b", 1, NULL},
        {"gunicorn.conf.py", "threads = 010\n", "gunicorn a:b", 1,
         "the threads of gunicorn.conf.py cannot"},
        {"other.py", "threads = 4\n",
         "GUNICORN_CMD_ARGS='-c file:other.py' gunicorn a:b", 4, NULL},
        {"other.rb", "worker_processes 3\n", "unicorn -c other.rb", 3, NULL},
    };
    size_t i;

    (void)state;
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        files_put(cases[i].file, cases[i].text);
        if (requests_of(cases[i].command) != cases[i].number ||
            found.is_unread != (cases[i].unread != NULL) ||
            (cases[i].unread && !strstr(found.counted, cases[i].unread)))
            fail_msg("%s with %s: %u: %s", cases[i].command, cases[i].text,
                     found.suitable, found.counted);
    }
}

static void children_of_php(void **state)
{
    static const char *const own[] = {"PHP_FCGI_CHILDREN=3", NULL};
    detect_config_t config = {.concurrency = APL_CONCURRENCY_AUTO,
                              .variable = value_of};

    (void)state;
    assert_int_equal(requests_of("php-cgi8.2"), 5);
    assert_int_equal(found.children, 5);
    assert_int_equal(requests_of("/usr/bin/php-cgi -d a=b"), 5);
    assert_int_equal(requests_of("A=1 exec php-cgi8.2 -b %s"), 5);
    assert_int_equal(requests_of("exec env A=1 /usr/bin/php8.3-cgi"), 5);
    assert_int_equal(requests_of("PHP_FCGI_CHILDREN=2 php-cgi"), 2);
    assert_int_equal(found.children, 0);
    assert_int_equal(requests_of("export PHP_FCGI_CHILDREN=2; php-cgi"), 2);
    assert_false(found.is_unread);
    assert_int_equal(requests_of("PHP_FCGI_CHILDREN=-2 php-cgi"), 1);
    assert_true(found.is_unread);
    assert_int_equal(requests_of("PHP_FCGI_CHILDREN=0 php-cgi"), 1);
    assert_false(found.is_unread);
    assert_int_equal(found.children, 0);
    variables = own;
    assert_int_equal(requests_of("php-cgi"), 3);
    assert_int_equal(found.children, 0);
    variables = NULL;
    config.concurrency = 1;
    detect_program_know("php-cgi", &config, &found);
    assert_int_equal(found.children, 0);
    config.concurrency = 8;
    detect_program_know("php-cgi", &config, &found);
    assert_int_equal(found.children, 8);
    assert_true(detect_program_is_php("A=b exec /opt/php8.3-cgi"));
    assert_false(detect_program_is_php("php -S localhost:80"));
}

#define TEST(function)                                                         \
    cmocka_unit_test_setup_teardown(function, begin, files_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(any_number),
        TEST(options),
        TEST(variables_of_the_configuration),
        TEST(lines_of_gunicorn),
        TEST(lines_of_puma),
        TEST(workers),
        TEST(odd_lines),
        TEST(children_of_php),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
