/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* What is read of the files of an app, and what the text of Python shows. */

#include "detect/detect_python.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/support/files.h"
#include "tests/unit/support/scene.h"

static int begin(void **state)
{
    if (files_begin(state) != 0)
        return 1;
    files_mkdir("app/shop");
    return chdir("app");
}

static int can_read(const char *path)
{
    char *text = detect_text_read(AT_FDCWD, path);
    int has = text != NULL;

    free(text);
    return has;
}

static void only_files_of_the_app_are_read(void **state)
{
    (void)state;
    files_put("file", "inside");
    files_put("../secret", "outside");
    assert_int_equal(symlink("../file", "shop/link"), 0);
    assert_int_equal(symlink("../secret", "out"), 0);
    assert_int_equal(symlink("/etc/passwd", "absolute"), 0);
    assert_int_equal(symlink("..", "up"), 0);
    assert_int_equal(mkfifo("fifo", 0600), 0);
    assert_true(can_read("shop/link"));
    assert_false(can_read("out"));
    assert_false(can_read("../secret"));
    assert_false(can_read("up/secret"));
    assert_false(can_read("absolute"));
    assert_false(can_read("fifo"));
    assert_false(can_read("shop"));
}

static void no_more_than_the_limit_is_read(void **state)
{
    FILE *f = fopen("large", "w");
    char *text;
    int i;

    (void)state;
    for (i = 0; i < 70000; i++)
        putc('a', f);
    fclose(f);
    text = detect_text_read(AT_FDCWD, "large");
    assert_non_null(text);
    assert_int_equal(strlen(text), 65536);
    free(text);
}

static void names_like_a_pattern(void **state)
{
    char paths[2][DETECT_PATH_MAX];

    (void)state;
    files_put("shop/b.py", "");
    files_put("shop/a.py", "");
    files_put("shop/.c.py", "");
    assert_int_equal(detect_text_list(AT_FDCWD, "*/*.py", paths, 2), 2);
    assert_string_equal(paths[0], "shop/a.py");
    assert_string_equal(paths[1], "shop/b.py");
    assert_int_equal(detect_text_list(AT_FDCWD, "*/a.py", NULL, 0), 1);
    assert_int_equal(detect_text_list(AT_FDCWD, "shop", NULL, 0), 0);
    assert_int_equal(detect_text_list(AT_FDCWD, "*", NULL, 0), 0);
}

/* A directory with any number of names costs no more than others. */
static void too_many_names(void **state)
{
    int i, dir = open("shop", O_PATH);
    char name[256], *names;

    (void)state;
    assert_int_equal(mkdir("shop/web", 0700), 0);
    files_put("shop/web/a.py", "");
    for (i = 0; i < 5000; i++) {
        snprintf(name, sizeof name, "shop/%0240d", i);
        files_put(name, "");
        if (i == 4000) {
            names = detect_text_names(dir);
            assert_non_null(names);
            assert_true(detect_text_may_exist(names, name + 5));
            assert_false(detect_text_may_exist(names, "b.py"));
            free(names);
            assert_int_equal(detect_text_list(dir, "*/a.py", NULL, 0), 1);
        }
    }
    assert_null(detect_text_names(dir));
    assert_true(detect_text_may_exist(NULL, "b.py"));
    close(dir);
}

/* ---- Python ---- */

#define WSGI DETECT_PYTHON_WSGI
#define ASGI DETECT_PYTHON_ASGI

static void what_is_bound(void **state)
{
    static const struct {
        const char *text, *name;
        detect_python_kind_t kind;
    } cases[] = {
        {"import flask\napp = flask.Flask(__name__)\n", "app", WSGI},
        {"from flask import request, Flask\nweb = Flask('x')\n", "web", WSGI},
        {"from flask import Flask\napp = Flask(__name__)\n"
         "application = app\n",
         "application", WSGI},
        {"from fastapi import FastAPI\napp: FastAPI = FastAPI()\n", "app",
         ASGI},
        {"from fastapi import FastAPI\nimport socketio\napp = FastAPI()\n"
         "application = socketio.ASGIApp(sio, app)\n",
         "application", ASGI},
        {"import falcon.asgi\napp = falcon.asgi.App()\n", "app", ASGI},
        {"import falcon\napp = falcon.App()\n", "app", WSGI},
        {"async def app(scope, receive, send):\n    pass\n", "app", ASGI},
        {"def application(environ, start):\n    pass\n", "application", WSGI},
        {"from dash import Dash\napp = Dash()\nserver = app.server\n", "server",
         WSGI},
        {"from flask import Flask\ndef create_app(a=1, b=2):\n"
         "    return Flask('x')\n",
         "create_app", WSGI},
        {"from fastapi import FastAPI\ndef create_app() -> FastAPI:\n"
         "    return FastAPI()\n",
         "create_app", ASGI},
        {"from django.core.wsgi import get_wsgi_application\n"
         "application = get_wsgi_application()\n",
         "application", WSGI},
        {"from flask import Flask\napp = wrap(Flask('x'))\r\n", "app", WSGI},
        {"from flask import Flask\ndef create_app(\n    db: Dict[str, int] = 0,"
         "\n):\n    return Flask('x')\n",
         "create_app", WSGI},
        {"import os, flask\r\nweb2: 'Dict[a, b]' = flask.Flask('x')\r\n",
         "web2", WSGI},
        {"import falcon\napi = application = falcon.API()\n", "api", WSGI},
        {"import falcon\nx = y = z == falcon.API()\n", "", 0},
        /* It is none of these. */
        {"from flask import Flask\n# app = Flask('x')\n", "", 0},
        {"from flask import Flask\n    app = Flask('x')\n", "", 0},
        {"from flask import Flask\ndef create_app(config):\n"
         "    return Flask('x')\n",
         "", 0},
        {"from flask import Flask\ndef create_app(config: Config, debug=0):\n"
         "    return Flask('x')\n",
         "", 0},
        {"from flask import Flask\n2app = Flask('x')\nx == Flask('x')\n"
         "x = MyFlask('x')\nx = Flask_('x')\n",
         "", 0},
        {"app = Flask('x')\n", "", 0}, /* it is not imported */
        {"import flask_login, os\nx = Flask('x')\n", "", 0},
        {"import typer\napp = typer.Typer()\n", "", 0},
        {"from aiohttp import web\napp = web.Application()\n", "", 0},
        {"import flask\nserver = Other()\n", "", 0},
        {"", "", 0},
    };
    detect_python_t app;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        files_put("app.py", cases[i].text);
        if (detect_python_find(AT_FDCWD, "app.py", &app) != !!*cases[i].name)
            fail_msg("%s", cases[i].text);
        assert_string_equal(app.name, cases[i].name);
        if (*cases[i].name)
            assert_int_equal(app.kind, cases[i].kind);
    }
}

/* The file that is imported says the kind, also through another one, and not for
 * ever. */
static void what_is_imported(void **state)
{
    detect_python_t app;

    (void)state;
    files_put("main.py", "from shop.web import site as app\n");
    files_put("shop/web.py", "from .made import site\n");
    files_put("shop/made.py", "from quart import Quart\nsite = Quart('x')\n");
    assert_true(detect_python_find(AT_FDCWD, "main.py", &app));
    assert_int_equal(app.kind, ASGI);
    assert_string_equal(app.framework, "Quart");
    assert_true(app.is_imported);
    files_put("shop/__init__.py", "from shop import app\n");
    assert_false(detect_python_find(AT_FDCWD, "shop/__init__.py", &app));
    files_put("main.py", "from other import app\n");
    assert_false(detect_python_find(AT_FDCWD, "main.py", &app));
}

/* Bottle has an application of its own, which the file of the program runs. */
static void what_has_no_name(void **state)
{
    static const struct {
        const char *text;
        int is_default;
    } cases[] = {
        {"from bottle import route, run\nrun(port=8080)\n", 1},
        {"import bottle\n\nif main:\n    bottle.run (debug=True)\n", 1},
        {"from bottle import route\nimport subprocess\n"
         "subprocess.run(['x'])\n",
         0},
        {"from bottle import route\n# run()\n", 0},
        {"from flask import Flask\nrun()\n", 0},
    };
    detect_python_t app;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        files_put("app.py", cases[i].text);
        assert_int_equal(detect_python_find(AT_FDCWD, "app.py", &app),
                         cases[i].is_default);
        assert_int_equal(app.is_default, cases[i].is_default);
        assert_string_equal(app.name, "");
    }
    files_put("app.py", "from bottle import Bottle, run\nweb = Bottle()\n"
                        "run(web)\n");
    assert_true(detect_python_find(AT_FDCWD, "app.py", &app));
    assert_string_equal(app.name, "web");
    assert_false(app.is_default);
}

/* What the file binds is part of a pattern only if it is a name: others take
 * minutes and all memory to be compiled. */
static void no_pattern_comes_from_a_file(void **state)
{
    detect_python_t app;

    (void)state;
    files_put("made.py", "from quart import Quart\nsite = Quart('x')\n");
    files_put("main.py", "from made import site\napp = site\n");
    assert_true(detect_python_find(AT_FDCWD, "main.py", &app));
    files_put("main.py", "from made import site\napp = s{1}ite\n");
    assert_false(detect_python_find(AT_FDCWD, "main.py", &app));
    files_put("main.py", "from made import site\napp = f(x).{0}site\n");
    assert_false(detect_python_find(AT_FDCWD, "main.py", &app));
    files_put("main.py", "from made import site\napp = f(x).\n");
    assert_false(detect_python_find(AT_FDCWD, "main.py", &app));
}

static void names_of_modules(void **state)
{
    char module[DETECT_PATH_MAX];

    (void)state;
    assert_true(detect_python_module("app.py", module));
    assert_string_equal(module, "app");
    assert_true(detect_python_module("shop/web/__init__.py", module));
    assert_string_equal(module, "shop.web");
    assert_false(detect_python_module("a b.py", module));
    assert_false(detect_python_module("my-app.py", module));
    assert_false(detect_python_module("shop.wsgi", module));
}

#define TEST(function)                                                         \
    cmocka_unit_test_setup_teardown(function, begin, files_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(only_files_of_the_app_are_read),
        TEST(no_more_than_the_limit_is_read),
        TEST(names_like_a_pattern),
        TEST(too_many_names),
        TEST(what_is_bound),
        TEST(what_is_imported),
        TEST(what_has_no_name),
        TEST(no_pattern_comes_from_a_file),
        TEST(names_of_modules),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
