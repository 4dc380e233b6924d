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

#include "ctl/ask.h"
#include "ctl/wait_for.h"
#include "ctl/detect.h"
#include "ctl/events.h"
#include "ctl/logs.h"
#include "ctl/show.h"
#include "ctl/top.h"

static const char help[] =
    "usage: apppoolctl [--runtime-dir DIR] [--json] COMMAND\n"
    "\n"
    "  status [APP]     groups, processes and open requests\n"
    "  top [-s SECONDS] [-n TIMES]\n"
    "                   the apps and the open requests, again and again; q "
    "ends it\n"
    "  events [-f]      what happened last, a line each; -f, --follow: and "
    "what\n"
    "                   happens from now on\n"
    "  check            prove that the pool's shared memory is consistent\n"
    "  detach ID        let a process end after the requests it has; ID, or\n"
    "                   its beginning, as the status shows it\n"
    "  kill ID          end a process with the requests it has: the clients "
    "get\n"
    "                   504; the log tells what it did\n"
    "  drain APP [--wait [--timeout S]]\n"
    "                   before it is worked on: its processes end after the\n"
    "                   requests they have, all others get 503; --wait: until\n"
    "                   no process of it is left\n"
    "  restart APP [--rolling | --blocking] [--wait [--timeout S]]\n"
    "                   load an app's code anew; as AppRestartMode says, or\n"
    "                   process by process, or all of them at once; puts a\n"
    "                   drained one back to work; --wait: until the new code\n"
    "                   serves, or does not start\n"
    "  start APP [--wait [--timeout S]]\n"
    "                   start its minimum, and at least one process\n"
    "  show APP         its directives: what holds, and where that was said\n"
    "  logs APP [-f]    what it printed last; -f, --follow: and what it "
    "prints\n"
    "                   from now on\n"
    "  report ID        what a process is doing just now, in the words of a\n"
    "                   report before a kill; it goes on\n"
    "  detect DIR       which command runs the app in DIR where no AppCommand\n"
    "                   is set, and why; asks no httpd\n"
    "\n"
    "  --runtime-dir DIR, --dir DIR\n"
    "                   runtime directory of the httpd that is meant; "
    "default:\n"
    "                   $APPPOOL_RUNTIME_DIR, or the only one of\n"
    "                   " ASK_WHERE "\n"
    "  --timeout S      with --wait: for S seconds at most\n"
    "  --seconds S      of top: between two looks, 2 without it\n"
    "  --times N        of top: look so many times; without it, no end\n"
    "  --json           print what the server answered; of events and top, an\n"
    "                   object a line\n"
    "  --version, --help\n"
    "\n"
    "exit status: 0 all is well, or done; 1 the check failed, or the server\n"
    "refused, or what --wait waited for did not come; 2 wrong usage; 3 no "
    "such\n"
    "httpd is running\n";

/* ---- commands ---- */

/* What stands on the command line. */
typedef struct {
    const char *dir;
    int raw;
    int follow;
    const char *seconds, *times; /* of top */
    int wait;
    const char *timeout; /* of --wait */
    const char *how;     /* "--rolling", "--blocking", or NULL: not said */
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

    return status ? status : events_print(dir, q->raw, q->follow);
}

static int logs(const asked_t *q)
{
    const char *dir = q->dir;
    int status = ask_directory(&dir);

    return status ? status : logs_print(dir, q->words[1], q->raw, q->follow);
}

/* A number above 0, at most max. @return 0: it is none */
static int read_number(const char *text, double max, double *value)
{
    char *end;

    if (!text)
        return 1;
    *value = strtod(text, &end);
    return end != text && !*end && *value > 0 && *value <= max;
}

static int top(const asked_t *q)
{
    const char *dir = q->dir;
    double seconds = 2, times = 0;
    int status;

    if (!read_number(q->seconds, 3600, &seconds) || seconds < 0.1)
        return ask_complain(EXIT_USAGE,
                            "--seconds: %s is no number from 0.1 to 3600",
                            q->seconds);
    if (!read_number(q->times, 1e9, &times) || times != (double)(long)times)
        return ask_complain(EXIT_USAGE,
                            "--times: %s is no number from 1 to 1000000000",
                            q->times);
    status = ask_directory(&dir);
    return status ? status
                  : top_show(dir, q->raw, (int)(seconds * 1000), (long)times);
}

#define APP     "the name of an app"
#define PROCESS "the ID of a process"

/* Options that not all commands have; SOME: one more word. */
enum { HOW = 1, FOLLOW = 2, TOP = 4, WAIT = 8, SOME = 16 };

static const struct {
    const char *word;
    const char *argument; /* NULL: it takes none */
    int may;              /* these options */
    /* One of them: */
    int (*act)(const asked_t *q);
    int (*show)(const json_t *answer); /* of the server, which knows it */
    int (*await)(const await_t *a);    /* --wait */
} commands[] = {
    {"status", NULL, SOME, NULL, show_status, NULL},
    {"top", NULL, TOP, top, NULL, NULL},
    {"events", NULL, FOLLOW, events, NULL, NULL},
    {"check", NULL, 0, NULL, show_check, NULL},
    {"detach", PROCESS, 0, NULL, show_done, NULL},
    {"kill", PROCESS, 0, NULL, show_done, NULL},
    {"drain", APP, WAIT, NULL, show_done, await_drained},
    {"restart", APP, HOW | WAIT, NULL, show_done, await_running},
    {"start", APP, WAIT, NULL, show_done, await_running},
    {"show", APP, 0, NULL, show_settings, NULL},
    {"logs", APP, FOLLOW, logs, NULL, NULL},
    {"report", PROCESS, 0, NULL, show_report, NULL},
    {"detect", "the directory of an app", 0, detect, NULL, NULL},
};

/* What was said, and does not belong to the command; NULL: nothing. */
static const char *surplus(const asked_t *q, int words, int may)
{
    return q->n > words                   ? q->words[words]
           : q->how && !(may & HOW)       ? q->how
           : q->follow && !(may & FOLLOW) ? "--follow"
           : q->seconds && !(may & TOP)   ? "--seconds"
           : q->times && !(may & TOP)     ? "--times"
           : q->timeout && !(may & WAIT)  ? "--timeout"
           : q->wait && !(may & WAIT)     ? "--wait"
                                          : NULL;
}

/* Have the server do it. @param n words of the question */
static int ask(const asked_t *q, size_t command, int n)
{
    const char *how = q->how ? q->how + strlen("--") : "default";
    const char *question[] = {q->words[0], n > 1 ? q->words[1] : NULL, how};
    await_t await = {.raw = q->raw};
    char *answer;
    int status;

    if (q->timeout && !q->wait)
        return ask_complain(EXIT_USAGE, "--timeout is for --wait");
    if (!read_number(q->timeout, 1e9, &await.seconds))
        return ask_complain(EXIT_USAGE,
                            "--timeout: %s is no number of seconds above 0",
                            q->timeout);
    await.dir = q->dir;
    status = ask_directory(&await.dir);
    if (status == 0)
        status = ask_server(await.dir, question, n, &answer);
    if (status != 0)
        return status;
    status = show_answer(answer, q->raw, commands[command].show);
    await.answer = answer;
    if (status == EXIT_OK && q->wait)
        status = commands[command].await(&await);
    free(answer);
    return status;
}

static int decide(const asked_t *q)
{
    const char *word = q->words[0], *extra;
    size_t i = 0;
    int wanted;

    while (strcmp(word, commands[i].word) != 0)
        if (++i == sizeof commands / sizeof *commands)
            return ask_complain(EXIT_USAGE, "%s is no command; see --help",
                                word);
    wanted =
        commands[i].argument || (commands[i].may & SOME && q->n > 1) ? 2 : 1;
    if (q->n < wanted)
        return ask_complain(EXIT_USAGE, "%s wants %s", word,
                            commands[i].argument);
    extra = surplus(q, wanted, commands[i].may);
    if (extra)
        return ask_complain(EXIT_USAGE, "%s is too much for %s", extra, word);
    if (commands[i].act)
        return commands[i].act(q);
    return ask(q, i, wanted + (commands[i].may & HOW));
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"dir", required_argument, NULL, 'd'},
        {"runtime-dir", required_argument, NULL, 'd'},
        {"json", no_argument, NULL, 'j'},
        {"follow", no_argument, NULL, 'f'},
        {"seconds", required_argument, NULL, 's'},
        {"times", required_argument, NULL, 'n'},
        {"wait", no_argument, NULL, 'w'},
        {"timeout", required_argument, NULL, 't'},
        {"rolling", no_argument, NULL, 'R'},
        {"blocking", no_argument, NULL, 'B'},
        {"version", no_argument, NULL, 'V'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0}};
    asked_t q = {0};
    const char *how;
    int c;

    while ((c = getopt_long(argc, argv, "d:fjhn:s:", options, NULL)) != -1)
        switch (c) {
        case 'd':
            q.dir = optarg;
            break;
        case 'j':
            q.raw = 1;
            break;
        case 'f':
            q.follow = 1;
            break;
        case 's':
            q.seconds = optarg;
            break;
        case 'n':
            q.times = optarg;
            break;
        case 'w':
            q.wait = 1;
            break;
        case 't':
            q.timeout = optarg;
            break;
        case 'R':
        case 'B':
            how = c == 'R' ? "--rolling" : "--blocking";
            if (q.how && strcmp(q.how, how) != 0)
                return ask_complain(EXIT_USAGE,
                                    "it is either --rolling or --blocking");
            q.how = how;
            break;
        case 'V':
            puts("apppoolctl " APPPOOL_VERSION);
            return EXIT_OK;
        case 'h':
            fputs(help, stdout);
            return EXIT_OK;
        default:
            fputs("apppoolctl --help tells more\n", stderr);
            return EXIT_USAGE;
        }
    if (optind == argc) {
        fputs(help, stderr);
        return EXIT_USAGE;
    }
    q.words = (const char *const *)argv + optind;
    q.n = argc - optind;
    return decide(&q);
}
