/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file apppoolctl.c
 * @brief apppoolctl: the administrator's view of a running pool.
 *
 * It knows the control socket (spawner/control/control.h) and the report's
 * keys, and nothing of httpd's configuration: the runtime directory is found or
 * given.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/ask_server.h"
#include "ctl/commands.h"

static const char help[] =
    "usage: apppoolctl [--runtime-dir DIR] [--json] COMMAND\n"
    "\n"
    "  status [APP]     show applications, processes and open requests\n"
    "  status --all     show all applications, also those without a request\n"
    "  status --problems [APP]\n"
    "                   show what is wrong now, the worst first\n"
    "  why APP          say why requests of an application fail or wait now\n"
    "  doctor [COMMAND] look at the configuration and at all that runs, and "
    "say\n"
    "                   what to do; COMMAND: what starts httpd, if none runs\n"
    "  top [-s SECONDS] [-n TIMES]\n"
    "                   show applications and open requests, and refresh the\n"
    "                   screen until q is pressed\n"
    "  events [-f]      print the last events; those that repeat are one "
    "line;\n"
    "                   -f, --follow: each event, and new ones as they come\n"
    "  check            prove that the shared memory of the pool is "
    "consistent\n"
    "  detach ID        take a process out of the pool: it finishes the "
    "requests\n"
    "                   that it has, and ends; ID: the id of the process in "
    "the\n"
    "                   status, or the beginning of the id\n"
    "  kill ID          kill a process together with the requests that it "
    "has:\n"
    "                   their clients get 504, and the log gets a report\n"
    "  drain APP [--wait [--timeout S]]\n"
    "                   take an application out of service: its processes "
    "finish\n"
    "                   the requests that they have, and end; all other "
    "requests\n"
    "                   get 503; --wait: return when no process is left\n"
    "  restart APP [--rolling | --blocking] [--wait [--timeout S]]\n"
    "                   load new code as AppRestartMode says, or replace one\n"
    "                   process after the other, or all processes at once; put "
    "a\n"
    "                   drained application back into service; --wait: return\n"
    "                   when the new code serves requests, or does not start\n"
    "  start APP [--wait [--timeout S]]\n"
    "                   start MinInstances processes, and at least one\n"
    "  out              take this host out: apppool-health responds with 503, "
    "so\n"
    "                   load balancers send no more requests; those that come "
    "are\n"
    "                   served\n"
    "  in               take this host back in\n"
    "  show APP         show the value of each directive, and where it is set\n"
    "  logs APP [-f]    print the last output of an application; -f, "
    "--follow:\n"
    "                   continue with new output\n"
    "  report ID        show what a process is doing now, as the log does "
    "before\n"
    "                   a kill; the process continues\n"
    "  store [status]   show the spaces of the store: memory, items, hits\n"
    "  store top [-s SECONDS] [-n TIMES]\n"
    "                   the same with rates, refreshed until q is pressed\n"
    "  store ready      succeed if this host is the master of the store, or "
    "may\n"
    "                   become the master; for keepalived. Exit status 4: its "
    "copy\n"
    "                   is not complete; 5: another host has better data; 6: "
    "its\n"
    "                   copy is old\n"
    "  store usable     the same, but a copy that is old is good enough\n"
    "  store handover   before the address of the store is moved: send all "
    "changes\n"
    "                   to the slaves, and serve nothing until it has moved\n"
    "  store forget     this slave does not keep its own items: it takes the "
    "copy of\n"
    "                   the next master that it meets\n"
    "  store keys SPACE [PREFIX]\n"
    "                   print the keys of a space, with bytes and time to "
    "live\n"
    "  store flush SPACE\n"
    "                   remove all items of a space\n"
    "  detect DIR       show the command that runs the application in DIR if "
    "no\n"
    "                   AppCommand is set, and why; needs no httpd\n"
    "\n"
    "  --runtime-dir DIR, --dir DIR\n"
    "                   the runtime directory of httpd; default:\n"
    "                   $APPPOOL_RUNTIME_DIR, or the only one of\n"
    "                   " ASK_WHERE "\n"
    "  --timeout S      with --wait: wait for at most S seconds\n"
    "  --seconds S      for top: the time between two screens, default 2\n"
    "  --times N        for top: the number of screens, default no limit\n"
    "  --json           print the JSON that the server has sent; for events "
    "and\n"
    "                   top, print one object a line\n"
    "  --version, --help\n"
    "\n"
    "exit status: 0 success; 1 the check failed, the server refused the "
    "command,\n"
    "or --wait had no success; 2 wrong usage; 3 no such httpd is running; 4 "
    "status\n"
    "--problems, why or doctor found something that is wrong\n";

/* ---- commands ---- */

/* The command line. */
typedef struct {
    const char *dir;
    int raw;
    int follow;
    const char *seconds, *times; /* of top */
    int wait;
    const char *timeout; /* of --wait */
    const char *how;     /* "--rolling", "--blocking", or NULL: not given */
    int all, problems;   /* of status */
    const char *const *words;
    int n;
} asked_t;

static int detect(const asked_t *q)
{
    const char *wrong = detect_print(q->words[1], q->raw);

    if (!wrong)
        return EXIT_OK;
    return q->raw ? EXIT_NO : ask_complain(EXIT_NO, "%s", wrong);
}

static int events(const asked_t *q)
{
    const char *dir = q->dir;
    int status = ask_directory(&dir);

    return status ? status : follow_events(dir, q->raw, q->follow);
}

static int logs(const asked_t *q)
{
    const char *dir = q->dir;
    int status = ask_directory(&dir);

    return status ? status : follow_logs(dir, q->words[1], q->raw, q->follow);
}

/* A number above 0, at most max. @return 0: the text is not such a number */
static int read_number(const char *text, double max, double *value)
{
    char *end;

    if (!text)
        return 1;
    *value = strtod(text, &end);
    return end != text && !*end && *value > 0 && *value <= max;
}

static int top_of(const asked_t *q, const top_view_t *view)
{
    const char *dir = q->dir;
    double seconds = 2, times = 0;
    int status;

    if (!read_number(q->seconds, 3600, &seconds) || seconds < 0.1)
        return ask_complain(
            EXIT_USAGE, "--seconds: \"%s\" is not a number from 0.1 to 3600",
            q->seconds);
    if (!read_number(q->times, 1e9, &times) || times != (double)(long)times)
        return ask_complain(EXIT_USAGE,
                            "--times: \"%s\" is not a whole number from 1 to "
                            "1000000000",
                            q->times);
    status = ask_directory(&dir);
    return status ? status
                  : top_show(dir, view, q->raw, (int)(seconds * 1000),
                             (long)times);
}

static int why_app(const asked_t *q)
{
    return why(q->dir, q->words[1], q->raw);
}

static int see_doctor(const asked_t *q)
{
    return doctor(q->dir, q->n > 1 ? q->words[1] : NULL, q->raw);
}

static int top(const asked_t *q)
{
    return top_of(q, &top_pool);
}

static int store(const asked_t *q)
{
    const char *word = q->n > 1 ? q->words[1] : "status";

    if (q->n == 2 && strcmp(word, "top") == 0)
        return top_of(q, &store_top);
    if (q->seconds || q->times)
        return ask_complain(EXIT_USAGE, "store %s does not take %s", word,
                            q->seconds ? "--seconds" : "--times");
    return store_command(q->dir, q->raw, q->words + 1, q->n - 1);
}

#define APP     "the name of an app"
#define PROCESS "the ID of a process"

/* What a command may have: options that not all commands have. SOME: one more
 * word, which may be left out. WORDS: the command looks at all others. */
enum {
    HOW = 1,
    FOLLOW = 2,
    TOP = 4,
    WAIT = 8,
    SOME = 16,
    WORDS = 32,
    LIST = 64
};

static const struct {
    const char *word;
    const char *argument; /* NULL: it takes none */
    int may;              /* these options */
    /* One of these two is set: */
    int (*act)(const asked_t *q);
    int (*show)(const json_t *response); /* prints the response of the server */
    int (*await)(const await_t *a);      /* --wait */
} commands[] = {
    {"status", NULL, SOME | LIST, NULL, show_status, NULL},
    {"why", APP, 0, why_app, NULL, NULL},
    {"doctor", NULL, SOME, see_doctor, NULL, NULL},
    {"top", NULL, TOP, top, NULL, NULL},
    {"events", NULL, FOLLOW, events, NULL, NULL},
    {"check", NULL, 0, NULL, show_check, NULL},
    {"detach", PROCESS, 0, NULL, show_done, NULL},
    {"kill", PROCESS, 0, NULL, show_done, NULL},
    {"drain", APP, WAIT, NULL, show_done, await_drained},
    {"restart", APP, HOW | WAIT, NULL, show_done, await_running},
    {"start", APP, WAIT, NULL, show_done, await_running},
    {"out", NULL, 0, NULL, show_done, NULL},
    {"in", NULL, 0, NULL, show_done, NULL},
    {"show", APP, 0, NULL, show_settings, NULL},
    {"logs", APP, FOLLOW, logs, NULL, NULL},
    {"report", PROCESS, 0, NULL, show_report, NULL},
    {"store", NULL, TOP | WORDS, store, NULL, NULL},
    {"detect", "the directory of an app", 0, detect, NULL, NULL},
};

/* A word or an option that the command does not take; NULL: there is none. */
static const char *surplus(const asked_t *q, int words, int may)
{
    return q->n > words && !(may & WORDS) ? q->words[words]
           : q->how && !(may & HOW)       ? q->how
           : q->follow && !(may & FOLLOW) ? "--follow"
           : q->seconds && !(may & TOP)   ? "--seconds"
           : q->times && !(may & TOP)     ? "--times"
           : q->timeout && !(may & WAIT)  ? "--timeout"
           : q->wait && !(may & WAIT)     ? "--wait"
           : q->all && !(may & LIST)      ? "--all"
           : q->problems && !(may & LIST) ? "--problems"
                                          : NULL;
}

/* Send the command to the server. @param n number of words */
static int ask(const asked_t *q, size_t command, int n)
{
    const char *how = q->how ? q->how + strlen("--") : "default";
    const char *words[] = {q->words[0], n > 1 ? q->words[1] : NULL, how};
    await_t await = {.raw = q->raw};
    char *response;
    int status;

    if (q->timeout && !q->wait)
        return ask_complain(EXIT_USAGE, "--timeout needs --wait");
    if (!read_number(q->timeout, 1e9, &await.seconds))
        return ask_complain(
            EXIT_USAGE, "--timeout: \"%s\" is not a number of seconds above 0",
            q->timeout);
    await.dir = q->dir;
    status = ask_directory(&await.dir);
    if (status == 0)
        status = ask_server(await.dir, words, n, &response);
    if (status != 0)
        return status;
    status = show_response(response, q->raw, commands[command].show);
    await.response = response;
    if (status == EXIT_OK && q->wait)
        status = commands[command].await(&await);
    free(response);
    return status;
}

static int list(const asked_t *q)
{
    if (q->all && q->problems)
        return ask_complain(EXIT_USAGE, "use either --all or --problems");
    if (q->problems)
        return list_problems(q->dir, q->n > 1 ? q->words[1] : NULL, q->raw);
    if (q->n > 1)
        return ask_complain(EXIT_USAGE, "--all does not take %s", q->words[1]);
    return list_all(q->dir, q->raw);
}

static int decide(const asked_t *q)
{
    const char *word = q->words[0], *extra;
    size_t i = 0;
    int wanted;

    while (strcmp(word, commands[i].word) != 0)
        if (++i == sizeof commands / sizeof *commands)
            return ask_complain(EXIT_USAGE,
                                "there is no command %s; see apppoolctl --help",
                                word);
    wanted =
        commands[i].argument || (commands[i].may & SOME && q->n > 1) ? 2 : 1;
    if (q->n < wanted)
        return ask_complain(EXIT_USAGE, "%s needs %s", word,
                            commands[i].argument);
    extra = surplus(q, wanted, commands[i].may);
    if (extra)
        return ask_complain(EXIT_USAGE, "%s does not take %s", word, extra);
    if (q->all || q->problems)
        return list(q);
    if (commands[i].act)
        return commands[i].act(q);
    return ask(q, i, wanted + (commands[i].may & HOW));
}

/* It had options of its own, which are not known any more. */
static int is_once(int argc, char **argv)
{
    int i;

    for (i = 1; i + 1 < argc; i++)
        if (strcmp(argv[i], "store") == 0 && strcmp(argv[i + 1], "once") == 0)
            return 1;
    return 0;
}

static int use_how(asked_t *q, const char *how, int *status)
{
    if (q->how && strcmp(q->how, how) != 0) {
        *status =
            ask_complain(EXIT_USAGE, "use either --rolling or --blocking");
        return 0;
    }
    q->how = how;
    return 1;
}

/* @return 0: nothing else is to be done, and *status is the end */
static int read_option(int c, asked_t *q, int *status)
{
    switch (c) {
    case 'd':
        q->dir = optarg;
        return 1;
    case 'j':
        return q->raw = 1;
    case 'f':
        return q->follow = 1;
    case 's':
        q->seconds = optarg;
        return 1;
    case 'n':
        q->times = optarg;
        return 1;
    case 'w':
        return q->wait = 1;
    case 't':
        q->timeout = optarg;
        return 1;
    case 'A':
        return q->all = 1;
    case 'P':
        return q->problems = 1;
    case 'R':
        return use_how(q, "--rolling", status);
    case 'B':
        return use_how(q, "--blocking", status);
    case 'V':
        puts("apppoolctl " APPPOOL_VERSION);
        *status = EXIT_OK;
        return 0;
    case 'h':
        fputs(help, stdout);
        *status = EXIT_OK;
        return 0;
    default:
        fputs("see apppoolctl --help\n", stderr);
        *status = EXIT_USAGE;
        return 0;
    }
}

/* @return 1: the words were read; 0: *status is the end */
static int read_words(int argc, char **argv, asked_t *q, int *status)
{
    static const struct option options[] = {
        {"dir", required_argument, NULL, 'd'},
        {"runtime-dir", required_argument, NULL, 'd'},
        {"json", no_argument, NULL, 'j'},
        {"follow", no_argument, NULL, 'f'},
        {"seconds", required_argument, NULL, 's'},
        {"times", required_argument, NULL, 'n'},
        {"wait", no_argument, NULL, 'w'},
        {"all", no_argument, NULL, 'A'},
        {"problems", no_argument, NULL, 'P'},
        {"timeout", required_argument, NULL, 't'},
        {"rolling", no_argument, NULL, 'R'},
        {"blocking", no_argument, NULL, 'B'},
        {"version", no_argument, NULL, 'V'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0}};
    int c;

    while ((c = getopt_long(argc, argv, "d:fjhn:s:", options, NULL)) != -1)
        if (!read_option(c, q, status))
            return 0;
    q->words = (const char *const *)argv + optind;
    q->n = argc - optind;
    return 1;
}

int main(int argc, char **argv)
{
    asked_t q = {0};
    int status;

    if (is_once(argc, argv))
        return ask_complain(
            EXIT_USAGE, "there is no store once any more: doc/store.md, \"A "
                        "command on one host\", has a script in its place");
    if (!read_words(argc, argv, &q, &status))
        return status;
    if (q.n == 0) {
        fputs(help, stderr);
        return EXIT_USAGE;
    }
    return decide(&q);
}
