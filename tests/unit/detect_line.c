/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* What sh gets for a command: the socket for servers that are known, scripts of
 * package.json, what is left out, and what is said. */

#include "detect/detect_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/support/files.h"
#include "tests/unit/support/scene.h"

#define BIN      "PATH=\"$PWD/node_modules/.bin:$PATH\""
#define OF_NPM   "env " BIN " "
#define LIST     "export " BIN "; "
#define DAPHNE   "python3 \"$APPPOOL_HELPERS/python/daphne_fd.py\""
#define WAITRESS "python3 \"$APPPOOL_HELPERS/python/waitress_fd.py\""
#define OPTIONS  "NODE_OPTIONS=\"$NODE_OPTIONS \""

static const struct {
    const char *command, *fd; /* with AppListen fd; NULL: as it is written */
} rows[] = {
    {"gunicorn -b 0.0.0.0:$PORT main:app", NULL},
    {"uvicorn main:app --host 0.0.0.0 --port $PORT",
     "uvicorn main:app --host 0.0.0.0 --port $PORT --fd 3"},
    {"uvicorn main:app --uds /tmp/x --proxy-headers # old",
     "uvicorn main:app --proxy-headers --fd 3 # old"},
    {"uvicorn --fd 3 main:app", NULL},
    {"cd x && A=1 venv/bin/uvicorn main:app >log 2>&1",
     "cd x && A=1 venv/bin/uvicorn main:app >log 2>&1 --fd 3"},
    {"env A=1 python3 -m uvicorn main:app",
     "env A=1 python3 -m uvicorn main:app --fd 3"},
    {"python3 -u -m hypercorn --bind 0.0.0.0:$PORT main:app",
     "python3 -u -m hypercorn main:app --bind fd://3"},
    {"hypercorn -b \"0.0.0.0:$PORT\" --bind=[::]:1 main:app",
     "hypercorn main:app --bind fd://3"},
    {"daphne -b 0.0.0.0 -p ${PORT:-1} shop.asgi:application",
     DAPHNE " shop.asgi:application -e systemd:domain=UNIX:index=0"},
    {"env -u A nice -n 5 daphne -u x shop.asgi:application",
     "env -u A nice -n 5 " DAPHNE
     " shop.asgi:application -e systemd:domain=UNIX:index=0"},
    {"A=1 waitress-serve --listen=*:$PORT --threads=4 shop:app",
     "A=1 " WAITRESS " --threads=4 shop:app"},
    {"python3 -m waitress --port $PORT shop:app", WAITRESS " shop:app"},
    {"bundle exec thin start -p $PORT -e production",
     "bundle exec thin start -e production -r "
     "\"$APPPOOL_HELPERS/ruby/thin_fd.rb\" -b AppPoolThin"},
    {"script/shop daemon -l http://*:$PORT",
     "script/shop daemon -l 'http://127.0.0.1?fd=3'"},
    {"perl shop.pl daemon", "perl shop.pl daemon -l 'http://127.0.0.1?fd=3'"},
    {"./daemon", NULL},
    {"bin/rails server -p $PORT -e production",
     "bin/rails server -p $PORT -e production -P tmp/pids/apppool.$$.pid"},
    {"bundle exec rails s", "bundle exec rails s -P tmp/pids/apppool.$$.pid"},
    {"rails s --pid x", NULL},
    {"rails runner x", NULL},
    {"puma -C config/puma.rb", NULL},
    /* variables that the module sets, too */
    {"NODE_OPTIONS=--x node a", OPTIONS "--x node a"},
    {"NODE_OPTIONS=\"$NODE_OPTIONS --x\" node a", NULL},
    {"export NODE_OPTIONS='--x' && node a",
     "export " OPTIONS "'--x' && node a"},
    {"RUBYOPT=-W0 puma", "RUBYOPT=\"$RUBYOPT \"-W0 puma"},
    {"node 'NODE_OPTIONS=' MY_NODE_OPTIONS=1", NULL},
    /* what starts a child process */
    {"npx next start", "next start"},
    {"cd x && A=1 npx --yes next start", "cd x && A=1 next start"},
    {"npx -y unknown a", NULL},
    {"yarn exec next start", "next start"},
    {"bunx next start", "next start"},
    {"uv run --frozen uvicorn a:b", "uvicorn a:b --fd 3"},
    {"uv run python -m uvicorn a:b", "python -m uvicorn a:b --fd 3"},
    {"uv run --env-file .env main.py", "python main.py"},
    {"uv run shop", NULL},
    {"poetry run uvicorn a:b", "uvicorn a:b --fd 3"},
    {"cross-env A=1 node a", "env A=1 node a"},
    {"tsx a.ts", "node --import tsx a.ts"},
    {"tsx watch a.ts", NULL},
    {"nest start", "node dist/main.js"},
    {"nest start --watch", NULL},
    {"env $(cat .env | xargs) uvicorn a:b",
     "env $(cat .env | xargs) uvicorn a:b --fd 3"},
    {"env `cat .env` A=1 npx next start", "env `cat .env` A=1 next start"},
    {"tini -g -- node a", "node a"},
    {"A=1 ./dumb-init -r 15:3 uvicorn a:b", "A=1 uvicorn a:b --fd 3"},
    {"cd x && tini npx next start", "cd x && next start"},
    {"tini -- unknown", "unknown"},
    {"pnpm next start", "next start"},
    {"yarn next start -p 1", "next start -p 1"},
    {"yarn node a.js", "node a.js"},
    {"yarn unknown", NULL},
    {"npm next start", NULL},
    /* a line within the command */
    {"bash -c \"uvicorn a:b --port $PORT\"",
     "bash -c 'exec uvicorn a:b --port $PORT --fd 3'"},
    {"sh -lc 'cd x && node a'", "sh -lc 'cd x && exec node a'"},
    {"A=1 bash -euo pipefail -c 'node a' x y",
     "A=1 bash -euo pipefail -c 'exec node a' x y"},
    {"bash --norc -c -e 'node \"a b\"'",
     "bash --norc -c -e 'exec node \"a b\"'"},
    {"sh -c \"sh -c 'node a'\"", "sh -c 'exec sh -c '\\''exec node a'\\'''"},
    {"sh -c \"echo \\\"\\$A\\\"; node a\"", "sh -c 'echo \"$A\"; exec node a'"},
    {"sh -c 'exec node a'", NULL},
    {"sh -c 'node a | cat'", NULL},
    {"sh -c \"node $(cat x)\"", NULL},
    {"sh -c $LINE", NULL},
    {"sh -c", NULL},
    {"sh start.sh -c 'node a'", NULL},
    {"bash -c 'npm start'", "bash -c 'exec " OF_NPM "node server.js'"},
    /* scripts */
    {"npm start", OF_NPM "node server.js"},
    {"npm run start:prod", OF_NPM "node server.js"},
    {"A=1 npm start -- --port $PORT",
     "A=1 " OF_NPM "node server.js --port $PORT"},
    {"yarn start --port 1", OF_NPM "node server.js --port 1"},
    {"yarn run start", OF_NPM "node server.js"},
    {"npm start a --b", OF_NPM "node server.js a --b"},
    {"npm start --b", NULL},
    {"pnpm -s start", OF_NPM "node server.js"},
    {"bun run start", OF_NPM "node server.js"},
    {"bun --cwd api start --x", "cd api && " OF_NPM "node api.js --x"},
    {"bun run server.ts", NULL},
    {"bun --hot server.ts", NULL},
    {"npm run build && npm run serve",
     "npm run build && " LIST "cd srv && node x"},
    {"A=1 npm run serve", "export A=1 && " LIST "cd srv && node x"},
    {"npm run checked", LIST "./check && node y"},
    {"npm --prefix api start", "cd api && " OF_NPM "node api.js"},
    {"npm start --prefix=api", "cd api && " OF_NPM "node api.js"},
    {"npm -w api start", "cd api && " OF_NPM "node api.js"},
    {"npm start --workspace @shop/api", "cd api && " OF_NPM "node api.js"},
    {"yarn --cwd api start", "cd api && " OF_NPM "node api.js"},
    {"yarn workspace @shop/api start", "cd api && " OF_NPM "node api.js"},
    {"pnpm --filter @shop/api start", "cd api && " OF_NPM "node api.js"},
    {"npm start -w @shop/spaced", NULL}, /* `cd` would get two words */
    {"npm start -w deep", NULL},         /* three stars */
    {"cd api && npm start", "cd api && " OF_NPM "node api.js"},
    {"pnpm -F ./packages/api start", "cd packages/api && " OF_NPM "node p.js"},
    {"pnpm --filter=@shop/p start", "cd packages/api && " OF_NPM "node p.js"},
    {"cross-env A=1 npm start", "env A=1 " OF_NPM "node server.js"},
    {"env A=1 npm run checked",
     "env A=1 sh -c 'export " BIN "; ./check && exec node y'"},
    {"tini -- npm start", OF_NPM "node server.js"},
    {"dotenv -- npm start", "dotenv -- " OF_NPM "node server.js"},
    {"exec npm start", OF_NPM "node server.js"},
    {"A=1 exec npm start", "A=1 " OF_NPM "node server.js"},
    {"A=1 exec npm run checked", "export A=1 && " LIST "./check && node y"},
    {"A=1 exec env B=2 npm start", "A=1 env B=2 " OF_NPM "node server.js"},
    {"npm run quoted", OF_NPM "node -e \"f(\\\"a b\\\")\""},
    {"npm run deep", LIST "cd api && " OF_NPM "node api.js"},
    {"npm run loop", OF_NPM "npm run loop"}, /* it ends */
    {"npm run nothing", NULL},
    {"npm ci", NULL},
    {"npm start | cat", NULL},
};

static const char package[] =
    "{\"name\": \"shop\", \"version\": \"1.2.3\","
    " \"workspaces\": [\"*/*/l*\", \"./ap*\"], \"scripts\": {"
    "\"start\": \"node server.js\", \"start:prod\": \"npm run start\","
    "\"serve\": \"cd srv && node x\", \"build\": \"tsc\","
    "\"checked\": \"node y\", \"prechecked\": \"./check\","
    "\"postchecked\": \"./never\","
    "\"quoted\": \"node -e \\\"f(\\\\\\\"a b\\\\\\\")\\\"\","
    "\"deep\": \"npm --prefix api start\", \"loop\": \"npm run loop\"}}";

static int begin(void **state)
{
    if (files_begin(state) != 0)
        return 1;
    files_put("package.json", package);
    files_put("api/package.json", "{\"name\": \"@shop/api\", \"scripts\": "
                                  "{\"start\": \"node api.js\"}}");
    files_put("ap i/package.json", "{\"name\": \"@shop/spaced\", \"scripts\": "
                                   "{\"start\": \"node x\"}}");
    files_put("dist/two/l/package.json", "{\"name\": \"deep\", \"scripts\": "
                                         "{\"start\": \"node x\"}}");
    files_put("pnpm-workspace.yaml",
              "packages:\n  - \"apps/*\"\n  - packages/*\n");
    files_put(
        "packages/api/package.json",
        "{\"name\": \"@shop/p\", \"scripts\": {\"start\": \"node p.js\"}}");
    files_program("node_modules/.bin/next", "");
    files_program(".venv/bin/uvicorn", "");
    files_program(".venv/bin/python", "");
    files_put("dist/main.js", "");
    return 0;
}

static const detect_found_t given;
static detect_line_t line;

static const char *with(const char *command, uint32_t listen)
{
    detect_line_free(&line);
    assert_true(detect_line(command, &given, listen, 1, &line));
    return line.command;
}

static void what_is_run(void **state)
{
    size_t i;

    (void)state;
    for (i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(with(rows[i].command, APL_LISTEN_FD),
                            rows[i].fd ? rows[i].fd : rows[i].command);
    assert_string_equal(with("cd x && A=1 uvicorn a:b", APL_LISTEN_FD),
                        "cd x && A=1 uvicorn a:b --fd 3");
    assert_string_equal(line.line, "cd x && A=1 exec uvicorn a:b --fd 3");
}

static void over_tcp_it_runs_as_written(void **state)
{
    static const char *const commands[] = {
        "uvicorn main:app --port $PORT", "npm start", "npx next start",
        "daphne -p $PORT a:b", "waitress-serve --port $PORT a:b"};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof commands / sizeof *commands; i++)
        assert_string_equal(with(commands[i], APL_LISTEN_TCP), commands[i]);
    assert_string_equal(with("uvicorn --uds %s a:b", APL_LISTEN_UNIX),
                        "uvicorn --uds %s a:b");
    assert_string_equal(with("npm start", APL_LISTEN_UNIX),
                        OF_NPM "node server.js");
}

static void facts(void **state)
{
    (void)state;
    with("npm run start:prod", APL_LISTEN_FD);
    assert_true(line.runs_node && !line.runs_ruby && !line.uses_port);
    assert_string_equal(line.package.name, "shop");
    assert_string_equal(line.package.version, "1.2.3");
    with("next start -p ${PORT:-3000}", APL_LISTEN_FD);
    assert_true(line.runs_node && line.uses_port);
    with("./shop $PORT_OF_SHOP $EXPORT", APL_LISTEN_FD);
    assert_false(line.runs_node || line.runs_ruby || line.uses_port);
    with("cd x && bundle exec puma", APL_LISTEN_FD);
    assert_true(line.runs_ruby && line.uses_port);
}

static void said(const char *command, uint32_t listen, const char *text)
{
    with(command, listen);
    assert_int_equal(line.notes.n, text != NULL);
    if (text && !strstr(line.notes.text[0], text))
        fail_msg("%s: %s", command, line.notes.text[0]);
}

/* What is known of a script follows from its last line, or from its first. */
static void facts_of_scripts(void **state)
{
    static const struct {
        const char *command;
        int node, ruby, port;
        const char *note; /* NULL: nothing is said */
    } cases[] = {
        {"./www", 1, 0, 0, NULL},
        {"./node.sh", 1, 0, 0, NULL},
        {"bash node.sh -x", 1, 0, 0, NULL},
        {"A=1 sh -e ./node.sh", 1, 0, 0, NULL},
        {"export A=1; ./node.sh", 1, 0, 0, NULL},
        {"./entry.sh bundle exec puma", 0, 1, 1, NULL},
        {"bin/serve.rb", 0, 1, 0, NULL},
        {"./child.sh", 1, 0, 0, "child.sh runs node without exec, so a shell "},
        {"./uvicorn.sh", 0, 0, 1, "uvicorn.sh runs uvicorn, which takes the "},
        {"./fd.sh", 0, 0, 1, NULL},
        {"./windows.sh", 1, 0, 0, "the lines of windows.sh end with CR LF, as"},
        {"./if.sh", 0, 0, 0, NULL},
        {"./loop.sh", 0, 0, 0, NULL},
        {"./binary", 0, 0, 0, NULL},
        {"./gone.sh", 0, 0, 0, NULL},
        {"entry.sh node", 0, 0, 0, NULL},       /* it is in PATH */
        {"cd bin && ./node.sh", 0, 0, 0, NULL}, /* another one */
        {"/elsewhere/node.sh", 0, 0, 0, NULL},
    };
    char absolute[2 * TEMPORARY_MAX];
    size_t i;

    (void)state;
    files_program("www", "#!/usr/bin/env node\nrequire('x')\n");
    files_program("node.sh",
                  "#!/usr/bin/env bash\nset -e\nif a; then\n  b\nfi\n"
                  "exec node \\\n  server.js # \n\n# end\n");
    files_program("entry.sh", "#! /bin/sh -e\nexec \"$@\"\n");
    files_program("bin/serve.rb", "#!/usr/bin/env -S ruby -w\n");
    files_program("child.sh", "#!/bin/sh\ncd x\nnode server.js\n");
    files_program("uvicorn.sh", "#!/bin/sh\nexec uvicorn a:b --port $PORT\n");
    files_program("fd.sh", "#!/bin/sh\nexec uvicorn a:b --fd 3\n");
    files_program("windows.sh", "#!/bin/sh\r\nexec node a\r\n");
    files_program("if.sh", "#!/bin/sh\nif a; then\n  exec node a\nfi\n");
    files_program("loop.sh", "#!/bin/sh\nexec ./loop.sh\n");
    files_program("binary", "\177ELF");
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        with(cases[i].command, APL_LISTEN_FD);
        if (line.runs_node != cases[i].node ||
            line.runs_ruby != cases[i].ruby || line.uses_port != cases[i].port)
            fail_msg("%s", cases[i].command);
        said(cases[i].command, APL_LISTEN_FD, cases[i].note);
    }
    said("./child.sh", APL_LISTEN_TCP, NULL);
    said("./windows.sh", APL_LISTEN_TCP, "end with CR LF");
    snprintf(absolute, sizeof absolute, "%s/node.sh", files_dir);
    with(absolute, APL_LISTEN_FD);
    assert_true(line.runs_node);
    with("bash -c 'cd x && node a'", APL_LISTEN_FD);
    assert_true(line.runs_node);
    with("env $(cat .env | xargs) node a", APL_LISTEN_FD);
    assert_true(line.runs_node);
}

static void what_is_said(void **state)
{
    static const char *const quiet[] = {
        "gunicorn main:app",
        "cd x && . ./env && export A=1; gunicorn a",
        "node --max-old-space=1 a",
        "next start",
        "bundle exec puma",
        "poetry run shop",
        "flask db upgrade",
        "cat x; exit 1",
        "vite build",
        "tini -- node a",
        "heroku run x",
        "sh -c 'cd x && exec node a'",
    };
    static const char *const development[] = {
        "flask run",
        "flask --app shop run -p $PORT",
        "nodemon a.js",
        "python3 manage.py runserver 0:$PORT",
        "node --watch a.js",
        "uvicorn --reload a:b",
        "next dev",
        "vite",
        "npx vite --host",
        "php -S 0.0.0.0:$PORT",
        "tsx watch a.ts",
        "cd x && python manage.py runserver",
        "python3.11 manage.py runserver",
        "python -m flask run",
        "next"};
    static const char *const managers[] = {
        "pm2-runtime start ecosystem.config.js",
        "forever server.js",
        "concurrently \"node a\" \"node b\"",
        "npm-run-all start",
        "turbo start",
        "heroku local",
        "foreman start",
        "honcho start web",
        "cd x && nf start"};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof quiet / sizeof *quiet; i++)
        said(quiet[i], APL_LISTEN_FD, NULL);
    for (i = 0; i < sizeof development / sizeof *development; i++) {
        with(development[i], APL_LISTEN_TCP);
        assert_int_equal(line.notes.n, 1);
        assert_non_null(strstr(line.notes.text[0], " is for development, and "
                                                   "AppEnvironment is "
                                                   "production: "));
        detect_line_judge(development[i], APL_LISTEN_TCP, 0, &line.notes);
        assert_int_equal(line.notes.n, 0);
    }
    said("a | b", APL_LISTEN_FD, "the program may not take the socket");
    said("a || b", APL_LISTEN_TCP, "the shell gets the signals, too");
    said("./manage.py migrate --noinput && gunicorn a", APL_LISTEN_FD,
         "each start of a process runs \"./manage.py migrate --noinput\" "
         "first: ");
    said("npx shop", APL_LISTEN_FD, "npx starts shop as its child process");
    said("uv run shop", APL_LISTEN_FD, "(uv sync), and write the command");
    said("npx shop", APL_LISTEN_TCP, NULL);
    for (i = 0; i < sizeof managers / sizeof *managers; i++) {
        said(managers[i], APL_LISTEN_UNIX,
             " starts other programs as its child processes, which do not take "
             "the socket: ");
        said(managers[i], APL_LISTEN_TCP, NULL);
    }
    said("sh -c 'flask run'", APL_LISTEN_FD, "flask is for development");
    said("sh -c 'node a | cat'", APL_LISTEN_FD, "may not take the socket");
    said("dotenv -- node a", APL_LISTEN_FD,
         ": set AppEnvFile, and write the command without dotenv");
    said("setsid node a", APL_LISTEN_FD,
         "socket: write the command without setsid");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_run),
        cmocka_unit_test(over_tcp_it_runs_as_written),
        cmocka_unit_test(facts),
        cmocka_unit_test(facts_of_scripts),
        cmocka_unit_test(what_is_said),
    };

    return cmocka_run_group_tests(tests, begin, files_end);
}
