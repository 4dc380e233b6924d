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
    {"Python: a group of exceptions, and the first of them",
     "  + Exception Group Traceback (most recent call last):\n"
     "  |   File \"/usr/lib/python3/asyncio/runners.py\", line 0, in run\n"
     "  |   File \"/usr/lib/python3/asyncio/runners.py\", line 1, in run\n"
     "  |   File \"/usr/lib/python3/asyncio/runners.py\", line 2, in run\n"
     "  |   File \"/usr/lib/python3/asyncio/runners.py\", line 3, in run\n"
     "  |   File \"/usr/lib/python3/asyncio/runners.py\", line 4, in run\n"
     "  |   File \"/usr/lib/python3/asyncio/runners.py\", line 5, in run\n"
     "  |   File \"/usr/lib/python3/asyncio/runners.py\", line 6, in run\n"
     "  |   File \"/usr/lib/python3/asyncio/runners.py\", line 7, in run\n"
     "  |   File \"/usr/lib/python3/asyncio/runners.py\", line 8, in run\n"
     "  |   File \"/usr/lib/python3/asyncio/runners.py\", line 9, in run\n"
     "  |   File \"/usr/lib/python3/asyncio/runners.py\", line 10, in run\n"
     "  |   File \"/usr/lib/python3/asyncio/runners.py\", line 11, in run\n"
     "  |   File \"/usr/lib/python3/asyncio/runners.py\", line 12, in run\n"
     "  |   File \"/usr/lib/python3/asyncio/runners.py\", line 13, in run\n"
     "  |   File \"/usr/lib/python3/asyncio/runners.py\", line 14, in run\n"
     "  |   File \"/usr/lib/python3/asyncio/runners.py\", line 15, in run\n"
     "  |   File \"/usr/lib/python3/asyncio/runners.py\", line 16, in run\n"
     "  |   File \"/usr/lib/python3/asyncio/runners.py\", line 17, in run\n"
     "  |   File \"/usr/lib/python3/asyncio/runners.py\", line 18, in run\n"
     "  |   File \"/usr/lib/python3/asyncio/runners.py\", line 19, in run\n"
     "  | ExceptionGroup: unhandled errors in a TaskGroup (2 sub-exceptions)\n"
     "  +-+---------------- 1 ----------------\n"
     "    | Traceback (most recent call last):\n"
     "    |   File \"/srv/shop/main.py\", line 2, in a\n"
     "    | ExceptionGroup: inner (1 sub-exception)\n"
     "    +-+---------------- 1 ----------------\n"
     "      | shop.NoCache: at r:6379\n"
     "      +------------------------------------\n"
     "    +---------------- 2 ----------------\n"
     "    | ValueError: second\n"
     "    +------------------------------------\n"
     "[21138] [INFO] bye\n",
     "ExceptionGroup: unhandled errors in a TaskGroup (2 sub-exceptions): "
     "shop.NoCache: at r:6379",
     0},
    {"uvicorn prints the traceback through its log",
     "ERROR:    Traceback (most recent call last):\n"
     "  File \"/srv/shop/main.py\", line 9, in lifespan\n"
     "shop.NoDatabase: at db:5432\n"
     "ERROR:    Application startup failed. Exiting.\n",
     "shop.NoDatabase: at db:5432", 0},
    {"gunicorn: no such name",
     "Failed to find attribute 'application' in 'wsgi'.\n"
     "[21139] [INFO] Worker exiting (pid: 21139)\n"
     "[21138] [INFO] Reason: App failed to load.\n",
     "Failed to find attribute 'application' in 'wsgi'.", 0},
    {"Python: the message begins below",
     "Traceback (most recent call last):\n"
     "  File \"/srv/shop/wsgi.py\", line 1, in <module>\n"
     "ImportError: \n"
     "Unable to import required dependencies:\n",
     "ImportError: Unable to import required dependencies:", 0},
    {"Ruby 3.2: syntax_suggest comes first",
     "config.ru:1:in `require_relative': --> /srv/shop/b.rb\n"
     "Unmatched keyword, missing `end' ?\n"
     "> 1  class Foo\n"
     "/srv/shop/b.rb:3: syntax error, unexpected end-of-input (SyntaxError)\n",
     "/srv/shop/b.rb:3: syntax error, unexpected end-of-input (SyntaxError)",
     0},
    {"node: an error of any class",
     "/srv/shop/app.js:1\n"
     "throw new ConfigInvalid(\"x\")\n"
     "^\n"
     "ConfigInvalid: DB_URL is missing\n"
     "    at Object.<anonymous> (/srv/shop/app.js:1:7)\n"
     "Node.js v20.20.2\n",
     "ConfigInvalid: DB_URL is missing", 0},
    {"node: an object was thrown",
     "/srv/shop/app.js:1\n"
     "throw { code: 3 };\n"
     "^\n"
     "{ code: 3, why: 'no db' }\n"
     "Node.js v20.20.2\n",
     "{ code: 3, why: 'no db' }", 0},
    {"node: the cause",
     "/srv/shop/app.js:1\n"
     "      Error.captureStackTrace(err);\n"
     "            ^\n"
     "TypeError: fetch failed\n"
     "    at node:internal/deps/undici/undici:14976:13 {\n"
     "  [cause]: Error: connect ECONNREFUSED 127.0.0.1:5432\n"
     "      at TCPConnectWrap.afterConnect [as oncomplete] (node:net:1611:16) "
     "{\n"
     "    code: 'ECONNREFUSED',\n"
     "  }\n"
     "}\n"
     "Node.js v20.20.2\n",
     "TypeError: fetch failed (cause: Error: connect ECONNREFUSED "
     "127.0.0.1:5432)",
     0},
    {"node: a promise",
     "node:internal/process/promises:389\n"
     "      new UnhandledPromiseRejection(reason);\n"
     "      ^\n"
     "UnhandledPromiseRejection: This error originated either by throwing "
     "inside of an async function without a catch block, or by rejecting a "
     "promise which was not handled with .catch(). The promise rejected with "
     "the reason \"no db\".\n"
     "    at throwUnhandledRejectionsMode "
     "(node:internal/process/promises:389:7) {\n"
     "  code: 'ERR_UNHANDLED_REJECTION'\n"
     "}\n"
     "Node.js v20.20.2\n",
     "The promise rejected with the reason \"no db\".", 0},
    {"node: no memory",
     "<--- JS stacktrace --->\n"
     "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out "
     "of memory\n"
     "----- Native stack trace -----\n"
     " 1: 0xb78db3 node::OOMErrorHandler(char const*) [node]\n"
     " 2: 0xb78db3 node::OOMErrorHandler(char const*) [node]\n"
     " 3: 0xb78db3 node::OOMErrorHandler(char const*) [node]\n"
     " 4: 0xb78db3 node::OOMErrorHandler(char const*) [node]\n"
     " 5: 0xb78db3 node::OOMErrorHandler(char const*) [node]\n"
     " 6: 0xb78db3 node::OOMErrorHandler(char const*) [node]\n"
     " 7: 0xb78db3 node::OOMErrorHandler(char const*) [node]\n"
     " 8: 0xb78db3 node::OOMErrorHandler(char const*) [node]\n"
     " 9: 0xb78db3 node::OOMErrorHandler(char const*) [node]\n"
     "10: 0xb78db3 node::OOMErrorHandler(char const*) [node]\n"
     "11: 0xb78db3 node::OOMErrorHandler(char const*) [node]\n"
     "12: 0xb78db3 node::OOMErrorHandler(char const*) [node]\n"
     "13: 0xb78db3 node::OOMErrorHandler(char const*) [node]\n"
     "14: 0xb78db3 node::OOMErrorHandler(char const*) [node]\n"
     "15: 0xb78db3 node::OOMErrorHandler(char const*) [node]\n"
     "16: 0xb78db3 node::OOMErrorHandler(char const*) [node]\n"
     "17: 0xb78db3 node::OOMErrorHandler(char const*) [node]\n"
     "18: 0xb78db3 node::OOMErrorHandler(char const*) [node]\n"
     "19: 0xb78db3 node::OOMErrorHandler(char const*) [node]\n"
     "20: 0xb78db3 node::OOMErrorHandler(char const*) [node]\n"
     "21: 0xb78db3 node::OOMErrorHandler(char const*) [node]\n"
     "22: 0xb78db3 node::OOMErrorHandler(char const*) [node]\n"
     "23: 0xb78db3 node::OOMErrorHandler(char const*) [node]\n"
     "24: 0xb78db3 node::OOMErrorHandler(char const*) [node]\n"
     "25: 0xb78db3 node::OOMErrorHandler(char const*) [node]\n"
     "26: 0xb78db3 node::OOMErrorHandler(char const*) [node]\n"
     "27: 0xb78db3 node::OOMErrorHandler(char const*) [node]\n"
     "28: 0xb78db3 node::OOMErrorHandler(char const*) [node]\n"
     "29: 0xb78db3 node::OOMErrorHandler(char const*) [node]\n",
     "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out "
     "of memory",
     0},
    {"Go: among many goroutines",
     "panic: no database\n"
     "goroutine 1 [running]:\n"
     "net/http.(*Server).Serve(0xc000012345, {0x5e0fa0?, 0xc00001, 0x2a})\n"
     "\t/usr/lib/go/net/http/server.go:42 +0x25\n"
     "main.serve[...](...)\n"
     "created by main.main in goroutine 1\n"
     "net/http.(*Server).Serve(0xc000012345, {0x5e0fa0?, 0xc00001, 0x2a})\n"
     "\t/usr/lib/go/net/http/server.go:42 +0x25\n"
     "main.serve[...](...)\n"
     "created by main.main in goroutine 1\n"
     "net/http.(*Server).Serve(0xc000012345, {0x5e0fa0?, 0xc00001, 0x2a})\n"
     "\t/usr/lib/go/net/http/server.go:42 +0x25\n"
     "main.serve[...](...)\n"
     "created by main.main in goroutine 1\n"
     "net/http.(*Server).Serve(0xc000012345, {0x5e0fa0?, 0xc00001, 0x2a})\n"
     "\t/usr/lib/go/net/http/server.go:42 +0x25\n"
     "main.serve[...](...)\n"
     "created by main.main in goroutine 1\n"
     "net/http.(*Server).Serve(0xc000012345, {0x5e0fa0?, 0xc00001, 0x2a})\n"
     "\t/usr/lib/go/net/http/server.go:42 +0x25\n"
     "main.serve[...](...)\n"
     "created by main.main in goroutine 1\n"
     "net/http.(*Server).Serve(0xc000012345, {0x5e0fa0?, 0xc00001, 0x2a})\n"
     "\t/usr/lib/go/net/http/server.go:42 +0x25\n"
     "main.serve[...](...)\n"
     "created by main.main in goroutine 1\n"
     "net/http.(*Server).Serve(0xc000012345, {0x5e0fa0?, 0xc00001, 0x2a})\n"
     "\t/usr/lib/go/net/http/server.go:42 +0x25\n"
     "main.serve[...](...)\n"
     "created by main.main in goroutine 1\n"
     "net/http.(*Server).Serve(0xc000012345, {0x5e0fa0?, 0xc00001, 0x2a})\n"
     "\t/usr/lib/go/net/http/server.go:42 +0x25\n"
     "main.serve[...](...)\n"
     "created by main.main in goroutine 1\n"
     "net/http.(*Server).Serve(0xc000012345, {0x5e0fa0?, 0xc00001, 0x2a})\n"
     "\t/usr/lib/go/net/http/server.go:42 +0x25\n"
     "main.serve[...](...)\n"
     "created by main.main in goroutine 1\n"
     "net/http.(*Server).Serve(0xc000012345, {0x5e0fa0?, 0xc00001, 0x2a})\n"
     "\t/usr/lib/go/net/http/server.go:42 +0x25\n"
     "main.serve[...](...)\n"
     "created by main.main in goroutine 1\n",
     "panic: no database", 0},
    {"Rust: the message is below, and the first one counts",
     "thread 'tokio-runtime-worker' (13510) panicked at src/main.rs:7:96:\n"
     "pool is empty\n"
     "note: run with `RUST_BACKTRACE=1` environment variable to display a "
     "backtrace\n"
     "thread 'main' (13508) panicked at src/main.rs:7:137:\n"
     "called `Result::unwrap()` on an `Err` value: Any { .. }\n",
     "thread 'tokio-runtime-worker' (13510) panicked at src/main.rs:7:96: pool "
     "is empty",
     0},
    {"Rust before 1.73", "thread 'main' panicked at 'no db', src/main.rs:4:5\n",
     "thread 'main' panicked at 'no db', src/main.rs:4:5", 0},
    {"Java: a thread with a blank in its name",
     "Exception in thread \"main worker\" java.lang.RuntimeException: no db\n",
     "java.lang.RuntimeException: no db", 0},
    {"Perl does not compile",
     "Global symbol \"$y\" requires explicit package name at app.psgi line 1.\n"
     "Execution of app.psgi aborted due to compilation errors.\n",
     "Global symbol \"$y\" requires explicit package name at app.psgi line 1.",
     0},
    {"Elixir: the innermost",
     "** (Mix) Could not start application shop: exited in: Shop.start()\n"
     "    ** (EXIT) an exception was raised:\n"
     "        ** (RuntimeError) environment variable DATABASE_URL is "
     "missing.\n",
     "** (RuntimeError) environment variable DATABASE_URL is missing.", 0},
    {"Deno",
     "error: Uncaught (in promise) Error: no db\n"
     "    at file:///srv/shop/main.ts:1:7\n",
     "error: Uncaught (in promise) Error: no db", 0},
    {"what terminals do",
     "\33]0;title\a\33[?25l\33[38:5:196m\33(BKeyError: \33[1;31m'x'\33[m\33[K "
     "end\n",
     "KeyError: 'x'  end", 0},
    {"Python: raised from another one",
     "Traceback (most recent call last):\n"
     "  File \"/srv/shop/wsgi.py\", line 1, in <module>\n"
     "KeyError: 'host'\n"
     "The above exception was the direct cause of the following exception:\n"
     "Traceback (most recent call last):\n"
     "  File \"/srv/shop/wsgi.py\", line 3, in <module>\n"
     "RuntimeError: settings are incomplete\n",
     "RuntimeError: settings are incomplete (cause: KeyError: 'host')", 0},
    {"hypercorn: no message",
     "Traceback (most recent call last):\n"
     "  File \"/srv/shop/wsgi.py\", line 1, in <module>\n"
     "ModuleNotFoundError: No module named 'nope'\n"
     "During handling of the above exception, another exception occurred:\n"
     "Traceback (most recent call last):\n"
     "  File \"/usr/bin/hypercorn\", line 33, in <module>\n"
     "hypercorn.utils.NoAppError\n",
     "hypercorn.utils.NoAppError (cause: ModuleNotFoundError: No module named "
     "'nope')",
     0},
    {"waitress-serve",
     "Error: Bad module 'wsgi'\n"
     "There was an exception (ModuleNotFoundError) importing your module.\n"
     "It had these arguments:\n"
     "1. No module named 'nope'\n",
     "1. No module named 'nope'", 0},
    {"puma and a syntax error",
     "! Unable to load application: SyntaxError: config.ru:1: syntax error, "
     "unexpected end-of-input\n"
     "run ->(e) {\n"
     "           ^\n"
     "/usr/lib/rack/builder.rb:116:in `eval': config.ru:1: syntax error, "
     "unexpected end-of-input (SyntaxError)\n",
     "config.ru:1: syntax error, unexpected end-of-input (SyntaxError)", 0},
    {"Plack",
     "Error while loading /srv/shop/app.psgi: Can't locate Nope.pm in @INC at "
     "app.psgi line 1.\n"
     "BEGIN failed--compilation aborted at /srv/shop/app.psgi line 1.\n",
     "Error while loading /srv/shop/app.psgi: Can't locate Nope.pm in @INC at "
     "app.psgi line 1.",
     0},
    {"npm",
     "npm error code ENOENT\n"
     "npm error syscall open\n"
     "npm error path /srv/shop/package.json\n"
     "npm error enoent Could not read package.json\n"
     "npm error A complete log of this run can be found in: x\n",
     "npm error enoent Could not read package.json", 0},
    {"npm, whose script has said why",
     "Error: no db\n"
     "    at Object.<anonymous> (/srv/shop/app.js:1:7)\n"
     "npm error code 1\n"
     "npm error Lifecycle script `start` failed with error:\n",
     "Error: no db", 0},
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
    {"a word of bash", "sh: 1: source: not found\n",
     "sh does not know source: write . ./FILE", 1},
    {"the last one of a list",
     "sh: 1: nvm: not found\nsh: 1: node: not found\n", "node was not found",
     1},
    {"the shell has run something else", "sh: 1: nvm: not found\nno db\n", "",
     0},
    {"lines without a reason", "no error: all is well\nbye\n", "", 0},
    {"nothing", "", "", 0},
};

/* In the lines that are kept of what a program prints. */
static int find(const char *printed, int no_command,
                char reason[START_REASON_MAX])
{
    output_t o = {.tail = NULL};
    size_t n;
    int found;

    last_lines_keep(&o);
    for (; *printed; printed += n + 1) {
        n = strcspn(printed, "\n");
        last_lines_add(&o, printed, n);
    }
    found = start_reason_find(o.tail, o.tail_length, no_command, reason);
    last_lines_forget(&o);
    return found;
}

static void programs_say_why(void **state)
{
    char reason[START_REASON_MAX];
    size_t i;
    int found;

    (void)state;
    for (i = 0; i < sizeof programs / sizeof *programs; i++) {
        found = find(programs[i].output, programs[i].no_command, reason);
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
        {"Error: Os { code: 98, kind: AddrInUse, message: \"Address already in "
         "use\" }\n",
         0},
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
