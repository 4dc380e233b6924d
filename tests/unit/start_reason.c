/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The reason of a failed start, out of what programs print. */

#include "spawner/report/start_reason.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "spawner/output/output.h"

static const struct {
    const char *name, *output, *reason;
    int no_command;
} programs[] = {
    {"gunicorn prints more lines after the exception",
     "[2026-11-29 06:57:37 +0000] [21139] [ERROR] Exception in worker process\n"
     "Traceback (most recent call last):\n"
     "  File \"/srv/shop/wsgi.py\", line 1, in <module>\n"
     "    import nope\n"
     "ModuleNotFoundError: No module named 'nope'\n"
     "[2026-11-29 06:57:37 +0000] [21138] [INFO] Reason: Worker failed to "
     "boot.\n",
     "ModuleNotFoundError: No module named 'nope'", 0},
    {"Python: the last of a chain, and of any class",
     "Traceback (most recent call last):\n"
     "  File \"a.py\", line 1\n"
     "KeyError: 'x'\n"
     "During handling of the above exception, another exception occurred:\n"
     "Traceback (most recent call last):\n"
     "  File \"a.py\", line 3\n"
     "shop.NoDatabase: at db:5432\n"
     "bye\n",
     "shop.NoDatabase: at db:5432", 0},
    {"Python: a syntax error with its place",
     "Traceback (most recent call last):\n"
     "  File \"/usr/lib/python3/importlib/__init__.py\", line 126\n"
     "  File \"/srv/shop/wsgi.py\", line 1\n"
     "    def f(:\n"
     "          ^\n"
     "SyntaxError: invalid syntax\n",
     "SyntaxError: invalid syntax (File \"/srv/shop/wsgi.py\", line 1)", 0},
    {"pydantic: the setting is below",
     "Traceback (most recent call last):\n"
     "  File \"/srv/shop/main.py\", line 9, in <module>\n"
     "pydantic_core.ValidationError: 1 validation error for Settings\n"
     "database_url\n"
     "  Field required [type=missing, input_value={}]\n",
     "pydantic_core.ValidationError: 1 validation error for Settings "
     "database_url",
     0},
    {"puma names the class, Ruby the message",
     "* Environment: production\n"
     "! Unable to load application: LoadError: cannot load such file -- nope\n"
     "<internal:/usr/lib/ruby/kernel_require.rb>:85:in `require': cannot load "
     "such file -- nope (LoadError)\n"
     "\tfrom a.ru:1:in `block in <main>'\n"
     "/usr/bin/puma:25:in `load'\n"
     "/usr/bin/puma:25:in `<main>'\n",
     "cannot load such file -- nope (LoadError)", 0},
    {"Ruby: an exception, not its cause; quotes as of 3.4",
     "c.rb:1:in 'Object#rescue in <main>': no db (RuntimeError)\n"
     "\tfrom c.rb:1:in '<main>'\n"
     "c.rb:1:in '<main>': first (KeyError)\n"
     "second line\n",
     "no db (RuntimeError)", 0},
    {"Ruby: a syntax error",
     "config.ru:1:in `require_relative': /srv/shop/b.rb:3: syntax error, "
     "unexpected end-of-input (SyntaxError)\n"
     "class Foo\n",
     "/srv/shop/b.rb:3: syntax error, unexpected end-of-input (SyntaxError)",
     0},
    {"node: a missing module",
     "node:internal/modules/cjs/loader:1210\n"
     "  throw err;\n"
     "  ^\n"
     "Error: Cannot find module 'expresso'\n"
     "Require stack:\n"
     "- /srv/shop/app.js\n"
     "    at Module._resolveFilename "
     "(node:internal/modules/cjs/loader:1207:15) "
     "{\n"
     "  code: 'MODULE_NOT_FOUND',\n"
     "}\n"
     "Node.js v20.20.2\n",
     "Error: Cannot find module 'expresso'", 0},
    {"node: an error with a code",
     "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'nope'\n"
     "    at packageResolve (node:internal/modules/esm/resolve:873:9)\n"
     "Node.js v20.20.2\n",
     "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'nope'", 0},
    {"node: a syntax error with its place",
     "/srv/shop/d.js:2\n"
     "SyntaxError: Unexpected end of input\n"
     "    at wrapSafe (node:internal/modules/cjs/loader:1464:18)\n"
     "Node.js v20.20.2\n",
     "SyntaxError: Unexpected end of input (/srv/shop/d.js:2)", 0},
    {"node: a text was thrown",
     "/srv/shop/b.js:1\n"
     "throw \"no database\"\n"
     "^\n"
     "no database\n"
     "(Use `node --trace-uncaught ...` to show where the exception was "
     "thrown)\n"
     "Node.js v20.20.2\n",
     "no database", 0},
    {"Go",
     "2026/11/29 06:57:37 begins\n"
     "panic: no database\n"
     "goroutine 1 [running]:\n"
     "main.main()\n"
     "\t/srv/shop/main.go:4 +0x25\n"
     "exit status 2\n",
     "panic: no database", 0},
    {"PHP",
     "PHP Fatal error:  Uncaught Exception: no db in /srv/shop/a.php:1\n"
     "Stack trace:\n"
     "#0 {main}\n"
     "  thrown in /srv/shop/a.php on line 1\n",
     "PHP Fatal error:  Uncaught Exception: no db in /srv/shop/a.php:1", 0},
    {"Java: the cause",
     "Exception in thread \"main\" java.lang.RuntimeException: wrapped\n"
     "\tat A.f(A.java:1)\n"
     "Caused by: java.lang.IllegalStateException: no db\n"
     "\tat A.f(A.java:1)\n",
     "java.lang.IllegalStateException: no db", 0},
    {"Java: no cause",
     "Exception in thread \"main\" java.lang.RuntimeException: no db\n"
     "\tat A.f(A.java:1)\n",
     "java.lang.RuntimeException: no db", 0},
    {"Spring Boot",
     "APPLICATION FAILED TO START\n"
     "***************************\n"
     "Description:\n"
     "Web server failed to start. Port 8080 was already in use.\n"
     "Action:\n"
     "Identify and stop the process that's listening on port 8080.\n",
     "Web server failed to start. Port 8080 was already in use.", 0},
    {"colours", "\33[1m\33[31mKeyError: 'x'\33[0m\nend\n", "KeyError: 'x'", 0},
    {"dash", "sh: 1: exec: npx: not found\n", "npx was not found", 1},
    {"dash, and a path", "sh: 1: exec: ./run: not found\n",
     "./run was not found, or the interpreter of its first line (#!) was not",
     1},
    {"bash", "bash: line 1: exec: npx: command not found\n",
     "npx was not found", 1},
    {"env", "env: \342\200\230next\342\200\231: No such file or directory\n",
     "next was not found", 1},
    {"a file without the right", "sh: 1: exec: ./a.js: Permission denied\n",
     "./a.js may not be executed", 1},
    {"the last one of a list",
     "sh: 1: nvm: not found\nsh: 1: node: not found\n", "node was not found",
     1},
    {"the shell has run something else", "sh: 1: nvm: not found\nno db\n", "",
     0},
    {"lines without a reason", "no error: all is well\nbye\n", "", 0},
    {"nothing", "", "", 0},
};

static void programs_say_why(void **state)
{
    char reason[START_REASON_MAX];
    size_t i;
    int found;

    (void)state;
    for (i = 0; i < sizeof programs / sizeof *programs; i++) {
        found =
            start_reason_find(programs[i].output, strlen(programs[i].output),
                              programs[i].no_command, reason);
        if (strcmp(reason, programs[i].reason) != 0)
            fail_msg("%s: %s", programs[i].name, reason);
        assert_int_equal(found, *reason != 0);
    }
}

/* The lines that are kept are those with the reason, however long the stack
 * is. */
static void frames_are_dropped_first(void **state)
{
    static const char *const frames[] = {
        "/usr/lib/ruby/gems/rails/application.rb:603:in `validate'",
        "net/http.(*conn).serve(0xc000012345)",
        "goroutine 7 [select]:",
        "#12 /srv/shop/a.php(3): f()",
        "    at Module.load (node:internal/modules/cjs/loader:1266:32)",
    };
    char reason[START_REASON_MAX];
    size_t i, n;

    (void)state;
    for (i = 0; i < sizeof frames / sizeof *frames; i++) {
        output_t o = {.tail = NULL};

        last_lines_keep(&o);
        last_lines_add(&o, "panic: no db", 12);
        for (n = 0; n < 300; n++)
            last_lines_add(&o, frames[i], strlen(frames[i]));
        assert_true(start_reason_find(o.tail, o.tail_length, 0, reason));
        assert_string_equal(reason, "panic: no db");
        last_lines_forget(&o);
    }
}

static void a_port_is_in_use(void **state)
{
    static const struct {
        const char *output;
        unsigned port;
    } all[] = {
        {"Error: listen EADDRINUSE: address already in use :::3000\n"
         "Node.js v20.20.2\n",
         3000},
        {"[2026-11-29 06:57:37 +0000] [9] [ERROR] Connection in use: "
         "('127.0.0.1', 8000)\n[9] [ERROR] Retrying in 1 second.\n",
         8000},
        {"x.rb:3:in `bind': Address already in use - bind(2) for \"0.0.0.0\" "
         "port 9292 (Errno::EADDRINUSE)\n",
         9292},
        {"2026/11/29 10:00:01 listen tcp :8080: bind: address already in use\n",
         8080},
        {"OSError: [Errno 98] Address already in use\n", 0},
        {"Error: no database at db:5432\n", 0},
    };
    char reason[START_REASON_MAX];
    size_t i;

    (void)state;
    for (i = 0; i < sizeof all / sizeof *all; i++) {
        assert_true(
            start_reason_find(all[i].output, strlen(all[i].output), 0, reason));
        assert_int_equal(start_reason_port(reason), all[i].port);
    }
}

/* Any bytes, and more than there is room for. */
static void any_output(void **state)
{
    static const char bytes[] = "aE:\n '(0\33[;.x!-\xC3";
    static char output[20000];
    char reason[START_REASON_MAX];
    unsigned seed = 1;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof output; i++)
        output[i] = bytes[(seed = seed * 69069 + 1) >> 16 & 15];
    for (i = 0; i < sizeof output; i += 7)
        start_reason_find(output + i, sizeof output - i, (int)i & 1, reason);
    memset(output, 'x', sizeof output);
    memcpy(output + sizeof output - 2000, "\nError: ", 8);
    assert_true(start_reason_find(output, sizeof output, 0, reason));
    assert_int_equal(strlen(reason), START_REASON_MAX - 1);
}

static void a_text_ends_at_a_word(void **state)
{
    char text[16];

    (void)state;
    start_reason_fit(text, sizeof text, "it fits exactly");
    assert_string_equal(text, "it fits exactly");
    start_reason_fit(text, sizeof text, "it does not fit here");
    assert_string_equal(text, "it does not...");
    start_reason_fit(text, sizeof text, "eleven_char\303\251s_and_more");
    assert_string_equal(text, "eleven_char...");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_say_why),
        cmocka_unit_test(frames_are_dropped_first),
        cmocka_unit_test(a_port_is_in_use),
        cmocka_unit_test(any_output),
        cmocka_unit_test(a_text_ends_at_a_word),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
