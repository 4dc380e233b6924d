/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file apppoolctl.c
 * @brief apppoolctl: the administrator's view of a running pool.
 *
 * It knows the control socket (spawner/control.h) and the report's keys, and
 * nothing of httpd's configuration: the runtime directory is found or given.
 */
#include <errno.h>
#include <getopt.h>
#include <glob.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "ctl/detect.h"
#include "ctl/table.h"
#include "spawner/contract.h"

enum { EXIT_OK, EXIT_NO, EXIT_USAGE, EXIT_NOT_RUNNING };

#define WHERE "/run/apache2/apppool-*"
#define LIMIT 10 /* s for an answer */
#define CHUNK 65536
#define LARGE (1 << 28) /* no answer is longer */

static const char help[] =
    "usage: apppoolctl [--dir DIR] [--json] COMMAND\n"
    "\n"
    "  status           groups, processes and open requests\n"
    "  check            prove that the pool's shared memory is consistent\n"
    "  detach ID        let a process end after the requests it has; ID, or\n"
    "                   its beginning, as the status shows it\n"
    "  restart APP [--rolling | --blocking]\n"
    "                   load an app's code anew; as AppRestartMode says, or\n"
    "                   process by process, or all of them at once\n"
    "  detect DIR       which command runs the app in DIR where no AppCommand\n"
    "                   is set, and why; asks no httpd\n"
    "\n"
    "  --dir DIR        runtime directory of the httpd that is meant; "
    "default:\n"
    "                   $APPPOOL_RUNTIME_DIR, or the only one of\n"
    "                   " WHERE "\n"
    "  --json           print what the server answered\n"
    "  --version, --help\n"
    "\n"
    "exit status: 0 all is well, or done; 1 the check failed, or the server\n"
    "refused; 2 wrong usage; 3 no such httpd is running\n";

static int complain(int status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static int complain(int status, const char *format, ...)
{
    va_list args;

    fputs("apppoolctl: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    return status;
}

/* ---- which httpd ---- */

/* @return 0 and *dir, which is never freed; else the exit status */
static int find_directory(const char **dir)
{
    glob_t found;
    size_t i;
    int rv;

    if (!*dir)
        *dir = getenv("APPPOOL_RUNTIME_DIR");
    if (*dir)
        return 0;
    rv = glob(WHERE, GLOB_ONLYDIR, NULL, &found);
    if (rv != 0 || found.gl_pathc == 0)
        return complain(EXIT_NOT_RUNNING,
                        "there is no " WHERE "; say which runtime directory "
                        "with --dir");
    if (found.gl_pathc == 1) {
        *dir = found.gl_pathv[0];
        return 0;
    }
    complain(EXIT_USAGE, "there are several; say which with --dir:");
    for (i = 0; i < found.gl_pathc; i++)
        fprintf(stderr, "  %s\n", found.gl_pathv[i]);
    globfree(&found);
    return EXIT_USAGE;
}

/* ---- question and answer ---- */

/* Where several are, while an upgrade drains: the newest. @return 0: too long */
static int find_socket(const char *dir, char *path, size_t size)
{
    static const char *const names[] = {CONTRACT_CURRENT "/" CONTRACT_CONTROL,
                                        CONTRACT_CONTROL};
    int i, n = 0;

    for (i = 0; i < 2; i++) {
        n = snprintf(path, size, "%s/%s", dir, names[i]);
        if (n >= 0 && (size_t)n < size && access(path, F_OK) == 0)
            break;
    }
    return n >= 0 && (size_t)n < size;
}

static int connect_to(const char *dir, int *fd)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    struct timeval limit = {LIMIT, 0};

    if (!find_socket(dir, at.sun_path, sizeof at.sun_path))
        return complain(EXIT_USAGE, "%s is too long a path", dir);
    *fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (*fd < 0)
        return complain(EXIT_NO, "socket: %s", strerror(errno));
    setsockopt(*fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(*fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    if (connect(*fd, (struct sockaddr *)&at, sizeof at) == 0)
        return 0;
    if (errno == EACCES || errno == EPERM)
        return complain(EXIT_NO, "%s: only root and httpd's user may ask",
                        at.sun_path);
    return complain(EXIT_NOT_RUNNING, "no pool is running in %s: %s", dir,
                    strerror(errno));
}

/* Everything up to EOF, to be freed. NULL: it did not come. */
static char *read_answer(int fd)
{
    char *text = NULL, *more;
    size_t length = 0;
    ssize_t n;

    do {
        more = length < LARGE ? realloc(text, length + CHUNK + 1) : NULL;
        if (!more)
            break;
        text = more;
        n = recv(fd, text + length, CHUNK, 0);
        if (n < 0)
            break;
        length += (size_t)n;
        text[length] = 0;
        if (n == 0 && length > 0)
            return text;
    } while (n > 0);
    free(text);
    return NULL;
}

/* Words with a tab between them. @return 0, or the exit status */
static int make_line(const char *const *words, int n,
                     char line[CONTRACT_QUESTION_MAX])
{
    size_t i, used = 0;
    int w;

    for (w = 0; w < n; w++) {
        size_t length = strlen(words[w]);

        for (i = 0; i < length; i++)
            if ((unsigned char)words[w][i] < 0x20 || words[w][i] == 0x7f)
                return complain(EXIT_USAGE,
                                "there is a control character in a word");
        if (used + length + 2 > CONTRACT_QUESTION_MAX)
            return complain(EXIT_USAGE, "that is too long");
        memcpy(line + used, words[w], length);
        used += length;
        line[used++] = w + 1 < n ? '\t' : '\n';
    }
    line[used] = 0;
    return 0;
}

static int ask(const char *dir, const char *line, char **answer)
{
    size_t length = strlen(line);
    int fd = -1, rv = connect_to(dir, &fd);

    if (rv != 0)
        return rv;
    *answer = NULL;
    if (send(fd, line, length, MSG_NOSIGNAL) == (ssize_t)length)
        *answer = read_answer(fd);
    close(fd);
    return *answer ? 0
                   : complain(EXIT_NOT_RUNNING,
                              "the spawner of %s does not "
                              "answer",
                              dir);
}

/* ---- commands ---- */

static int show_status(const json_t *o)
{
    table_print(o);
    return EXIT_OK;
}

static int show_check(const json_t *o)
{
    if (json_is_true(json_object_get(o, "ok"))) {
        puts("all invariants hold");
        return EXIT_OK;
    }
    printf("%s does not hold: %s\n",
           json_string_value(json_object_get(o, "invariant")),
           json_string_value(json_object_get(o, "text")));
    return EXIT_NO;
}

static int show_done(const json_t *o)
{
    const char *text = json_string_value(json_object_get(o, "text"));

    puts(text ? text : "done");
    return EXIT_OK;
}

static const struct {
    const char *word;
    const char *argument; /* NULL: it takes none */
    int how;              /* --rolling or --blocking may be said */
    int (*show)(const json_t *answer);
} commands[] = {{"status", NULL, 0, show_status},
                {"check", NULL, 0, show_check},
                {"detach", "the ID of a process", 0, show_done},
                {"restart", "the name of an app", 1, show_done}};

/* What an answer says of itself, whatever was asked. */
static int verdict(const json_t *o)
{
    const json_t *ok = json_object_get(o, "ok");

    return json_object_get(o, "error") || json_is_false(ok) ? EXIT_NO : EXIT_OK;
}

static int show(const char *answer, int raw,
                int (*show_as)(const json_t *answer))
{
    json_error_t trouble;
    json_t *o = json_loads(answer, 0, &trouble);
    const char *error = json_string_value(json_object_get(o, "error"));
    int status;

    if (!json_is_object(o)) {
        json_decref(o);
        return complain(EXIT_NO, "the answer is no JSON object: %s",
                        trouble.text);
    }
    if (raw) {
        puts(answer);
        status = verdict(o);
    }
    else if (error)
        status = complain(EXIT_NO, "%s", error);
    else
        status = show_as(o);
    json_decref(o);
    if (fflush(stdout) != 0 || ferror(stdout))
        return complain(EXIT_NO, "the output cannot be written: %s",
                        strerror(errno));
    return status;
}

static int detect(int raw, const char *const *words, int n)
{
    const char *wrong;

    if (n != 2)
        return complain(EXIT_USAGE, "detect wants one directory");
    wrong = detect_print(words[1], raw);
    return wrong ? complain(EXIT_NO, "%s", wrong) : EXIT_OK;
}

/* @param words the command and its arguments
 * @param how   "rolling", "blocking", or NULL: that was not said */
static int run(const char *dir, int raw, const char *const *words, int n,
               const char *how)
{
    const char *question[3] = {words[0], words[1], how ? how : "default"};
    char line[CONTRACT_QUESTION_MAX], *answer;
    size_t i;
    int status, wanted;

    if (strcmp(words[0], "detect") == 0)
        return detect(raw, words, n);
    for (i = 0; strcmp(words[0], commands[i].word) != 0;)
        if (++i == sizeof commands / sizeof *commands)
            return complain(EXIT_USAGE, "%s is no command; see --help",
                            words[0]);
    wanted = commands[i].argument ? 2 : 1;
    if (n < wanted)
        return complain(EXIT_USAGE, "%s wants %s", words[0],
                        commands[i].argument);
    if (n > wanted || (how && !commands[i].how))
        return complain(EXIT_USAGE, "%s is too much for %s",
                        n > wanted ? words[wanted] : how, words[0]);
    status = make_line(question, wanted + commands[i].how, line);
    if (status == 0)
        status = find_directory(&dir);
    if (status == 0)
        status = ask(dir, line, &answer);
    if (status != 0)
        return status;
    status = show(answer, raw, commands[i].show);
    free(answer);
    return status;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"dir", required_argument, NULL, 'd'},
        {"json", no_argument, NULL, 'j'},
        {"rolling", no_argument, NULL, 'R'},
        {"blocking", no_argument, NULL, 'B'},
        {"version", no_argument, NULL, 'V'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0}};
    const char *dir = NULL, *how = NULL;
    int c, raw = 0;

    while ((c = getopt_long(argc, argv, "d:jh", options, NULL)) != -1)
        switch (c) {
        case 'd':
            dir = optarg;
            break;
        case 'j':
            raw = 1;
            break;
        case 'R':
        case 'B':
            how = c == 'R' ? "rolling" : "blocking";
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
    return run(dir, raw, (const char *const *)argv + optind, argc - optind,
               how);
}
