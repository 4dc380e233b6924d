/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "detect/detect_line.h"

#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "detect/command_inside.h"
#include "detect/detect_file.h"
#include "detect/detect_program.h"
#include "detect/detect_text.h"
#include "detect/package_script.h"
#include "detect/shell_line.h"

/* Servers that take a socket by an option, or by a helper of ours that runs
 * them. */
typedef struct {
    const char *program;
    const char *drops;  /* options with a value that name another place */
    const char *has;    /* one of these words in the command decides already */
    const char *adds;   /* behind the command */
    const char *helper; /* in place of the program; NULL: none */
} server_t;

#define OF_PYTHON(file) "python3 \"$APPPOOL_HELPERS/python/" file "\""
static const server_t servers[] = {
    {"uvicorn", " --uds ", "--fd", " --fd 3", NULL},
    {"hypercorn", " -b --bind ", "fd://", " --bind fd://3", NULL},
    {"daphne", " -b --bind -p --port -u --unix-socket ", "--fd|-e |--endpoint",
     " -e systemd:domain=UNIX:index=0", OF_PYTHON("daphne_fd.py")},
    {"thin", " -a --address -p --port -S --socket ", "-b |--backend",
     " -r \"$APPPOOL_HELPERS/ruby/thin_fd.rb\" -b AppPoolThin", NULL},
    {"waitress-serve", " --listen --host --port --unix-socket ", NULL, "",
     OF_PYTHON("waitress_fd.py")},
};

/* ---- changing the line ---- */

/* Put other words in the place of a part of it. @return 0: no memory */
static int put(char **line, size_t at, size_t length, const char *words)
{
    char *text;

    if (asprintf(&text, "%.*s%s%s", (int)at, *line, words,
                 *line + at + length) < 0)
        return 0;
    free(*line);
    *line = text;
    return 1;
}

/* Leave out options that name another place to listen on.
 * @param program the word that names the program: before it stand options of
 *                what starts it */
static int drop_options(char **line, size_t program, const char *options)
{
    shell_line_t read;
    char word[PROGRAM_OF_MAX];
    size_t i, end;

    if (!shell_line_read(*line, &read))
        return 1;
    for (i = read.n_words; i-- > program + 1;) {
        const shell_part_t *at = &read.words[i];
        const char *text = *line + at->at;

        snprintf(word, sizeof word, "%.*s", (int)strcspn(text, "= \t"), text);
        if (!shell_line_is_among(word, options))
            continue;
        end = at->at + at->length;
        if (text[strlen(word)] != '=' && i + 1 < read.n_words)
            end = read.words[i + 1].at + read.words[i + 1].length;
        if (!put(line, at->at - 1, end - at->at + 1, ""))
            return 0;
    }
    return 1;
}

static int has_word(const char *command, const char *words)
{
    char word[32];
    const char *at = words;
    size_t n;

    for (; at && *at; at += n + (at[n] == '|')) {
        n = strcspn(at, "|");
        snprintf(word, sizeof word, "%.*s", (int)n, at);
        if (strstr(command, word))
            return 1;
    }
    return 0;
}

/* The server gets the socket by its option. */
static int add_socket(char **line)
{
    char name[PROGRAM_OF_MAX];
    program_of_t program;
    shell_line_t read;
    size_t i;

    if (!shell_line_read(*line, &read) || !program_of(*line, &read, &program))
        return 1;
    snprintf(name, sizeof name, "%s", program.name);
    for (i = 0; i < sizeof servers / sizeof *servers; i++) {
        const server_t *s = &servers[i];

        if (strcmp(name, s->program) != 0 ||
            has_word(*line + read.begin, s->has))
            continue;
        /* From here on, only the end of the line changes. */
        if (!drop_options(line, program.word, s->drops) ||
            !shell_line_read(*line, &read) || !put(line, read.end, 0, s->adds))
            return 0;
        if (s->helper)
            return put(line, read.words[program.from].at,
                       read.words[program.word].at +
                           read.words[program.word].length -
                           read.words[program.from].at,
                       s->helper);
        return 1;
    }
    return 1;
}

/* `script daemon -l URL` of Mojolicious, also behind perl. */
static int add_mojo(char **line)
{
    shell_line_t read;
    program_of_t program;
    char word[32] = "";
    size_t i;

    if (!shell_line_read(*line, &read) || !program_of(*line, &read, &program))
        return 1;
    i = program.word + (strcmp(program.name, "perl") == 0 ? 2 : 1);
    if (i < read.n_words)
        shell_line_word(*line, &read.words[i], word, sizeof word);
    if (!shell_line_is_among(word, " daemon prefork ") || strstr(*line, "fd=3"))
        return 1;
    return drop_options(line, i, " -l --listen ") &&
           (!shell_line_read(*line, &read) ||
            put(line, read.end, 0, " -l 'http://127.0.0.1?fd=3'"));
}

/* A variable that the module sets as well is added to. */
static int add_to(char **line, const char *name)
{
    char value[64];
    size_t at = 0, n = strlen(name);

    snprintf(value, sizeof value, "\"$%s \"", name);
    while ((at = shell_line_find(*line, at, name)) != (size_t)-1) {
        size_t begin = at + n + 1;
        size_t length = strcspn(*line + begin, " \t;&");

        at = begin;
        if (memmem(*line + begin, length, name, n))
            continue;
        if (!put(line, begin, 0, value))
            return 0;
        at += strlen(value);
    }
    return 1;
}

/* ---- what does not pass the socket on ---- */

/* Programs of the app's own, which are in PATH. */
static int is_in_environment(const char *name)
{
    static const char *const places[] = {".venv", "venv", "env", NULL};
    char path[PATH_MAX];
    size_t i;

    for (i = 0; places[i]; i++) {
        snprintf(path, sizeof path, "%s/bin/%s", places[i], name);
        if (access(path, X_OK) == 0)
            return 1;
    }
    return 0;
}

/* The module passes signals on, too. */
static int leave_out_init(char **line)
{
    program_of_t program;
    shell_line_t read;
    size_t from;

    if (!shell_line_read(*line, &read) || !program_of(*line, &read, &program) ||
        !program.is_init)
        return 1;
    from = read.words[program.from].at;
    return put(line, from, read.words[program.behind].at - from, "");
}

/* A program that starts another one as its child process, or that is not in
 * PATH itself. It is left out where the other one is. `uv run` also runs a
 * file. */
static int leave_out_starter(char **line)
{
    program_of_t program;
    shell_line_t read;
    char word[PROGRAM_OF_MAX];
    size_t from, n;
    int is_file;

    if (!shell_line_read(*line, &read) || !program_of(*line, &read, &program) ||
        !*program.starter ||
        !shell_line_word(*line, &read.words[program.after], word, sizeof word))
        return 1;
    from = read.words[program.from].at;
    n = strlen(word);
    is_file = n > 3 && strcmp(word + n - 3, ".py") == 0;
    if (!detect_file_is_of_npm(word) &&
        !is_in_environment(is_file ? "python" : word))
        return 1;
    return put(line, from, read.words[program.after].at - from,
               is_file ? "python " : "");
}

/* env does what cross-env does, and becomes the program. */
static int replace_cross_env(char **line)
{
    shell_line_t read;
    char word[32];

    return !shell_line_read(*line, &read) || read.n_words == 0 ||
           !shell_line_word(*line, &read.words[0], word, sizeof word) ||
           strcmp(word, "cross-env") != 0 ||
           put(line, read.words[0].at, read.words[0].length, "env");
}

/* `rails server` refuses to start while the file of another process is
 * there. */
static int add_pid_file(char **line)
{
    program_of_t program;
    shell_line_t read;
    char word[32];

    if (!shell_line_read(*line, &read) || !program_of(*line, &read, &program) ||
        strcmp(program.name, "rails") != 0 ||
        program.word + 1 >= read.n_words ||
        !shell_line_word(*line, &read.words[program.word + 1], word,
                         sizeof word) ||
        !shell_line_is_among(word, " server s ") ||
        has_word(*line, "-P|--pid|PIDFILE"))
        return 1;
    return put(line, read.end, 0, " -P tmp/pids/apppool.$$.pid");
}

/* Programs of node that start node as a child process, and what does the same
 * within one. */
static int replace_starter_of_node(char **line)
{
    const char *with = NULL;
    program_of_t program;
    shell_line_t read;
    char word[32] = "";
    size_t length;

    if (!shell_line_read(*line, &read) || !program_of(*line, &read, &program))
        return 1;
    length = read.words[program.word].length;
    if (program.word + 1 < read.n_words)
        shell_line_word(*line, &read.words[program.word + 1], word,
                        sizeof word);
    if (strcmp(program.name, "tsx") == 0 && strcmp(word, "watch") != 0)
        with = "node --import tsx";
    else if (strcmp(program.name, "nest") == 0 && strcmp(word, "start") == 0 &&
             read.n_words == program.word + 2 &&
             detect_text_exists(AT_FDCWD, "dist/main.js")) {
        with = "node dist/main.js";
        length += read.words[program.word + 1].at +
                  read.words[program.word + 1].length -
                  read.words[program.word].at - length;
    }
    return !with || put(line, read.words[program.word].at, length, with);
}

/* ---- what is said ---- */

static void say(detect_notes_t *notes, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void say(detect_notes_t *notes, const char *format, ...)
{
    va_list args;

    if (notes->n == DETECT_LINE_NOTES)
        return;
    va_start(args, format);
    vsnprintf(notes->text[notes->n++], DETECT_LINE_NOTE, format, args);
    va_end(args);
}

static void judge_program(const char *command, const shell_line_t *read,
                          uint32_t listen, int is_production,
                          detect_notes_t *notes)
{
    program_of_t program;
    const char *instead;

    if (!program_of(command, read, &program))
        return;
    instead =
        is_production ? program_of_production(command, read, &program) : NULL;
    if (instead)
        say(notes,
            "%s is for development, and AppEnvironment is production: %s",
            program.name, instead);
    if (listen == APL_LISTEN_TCP)
        return;
    instead = program_of_managed(command, read, &program);
    if (instead)
        say(notes,
            "%s starts other programs as its child processes, which do not "
            "take the socket: %s",
            program.name, instead);
    if (*program.starter && !program.is_found && !program.is_init)
        say(notes,
            "%s starts %s as its child process, which does not take the "
            "socket: %s%swrite the command without %s",
            program.starter, program.name, program.advice ? program.advice : "",
            program.advice ? ", and " : "", program.starter);
}

static void judge(const char *command, uint32_t listen, int is_production,
                  detect_notes_t *notes)
{
    char inner[COMMAND_INSIDE_MAX];
    shell_line_t read;

    if (!shell_line_read(command, &read)) {
        say(notes,
            "a shell runs the whole command, and stays above its program: %s",
            listen == APL_LISTEN_FD
                ? "the program may not take the socket. Write it as a list "
                  "with ; and && whose last command is the program, or set "
                  "AppListen tcp"
                : "the shell gets the signals, too");
        return;
    }
    if (read.first.length > 0 && read.is_program)
        say(notes,
            "each start of a process runs \"%.*s\" first: do that once, when "
            "you deploy, before touch tmp/restart.txt",
            (int)(read.first.length < 100 ? read.first.length : 100),
            command + read.first.at);
    if (command_inside_c(command, inner, NULL))
        judge(inner, listen, is_production, notes);
    else
        judge_program(command, &read, listen, is_production, notes);
}

void detect_line_judge(const char *command, uint32_t listen, int is_production,
                       detect_notes_t *notes)
{
    notes->n = 0;
    judge(command, listen, is_production, notes);
}

/* A server that takes the socket by an option only, which is not there. */
static int lacks_socket(const char *line, const program_of_t *program)
{
    size_t i;

    for (i = 0; i < sizeof servers / sizeof *servers; i++)
        if (strcmp(program->name, servers[i].program) == 0)
            return !has_word(line, servers[i].has);
    return 0;
}

/* What the program of a script gets, which the module cannot change. */
static void judge_program_of(const command_inside_file_t *file,
                             const char *line, detect_notes_t *notes)
{
    program_of_t program;
    shell_line_t read;

    if (!shell_line_read(line, &read) || !program_of(line, &read, &program))
        return;
    if (!file->has_exec)
        say(notes,
            "%s runs %s without exec, so a shell stays above it, and it does "
            "not take the socket: write exec before it there",
            file->file, program.name);
    else if (lacks_socket(line, &program))
        say(notes,
            "%s runs %s, which takes the socket by an option only: write its "
            "command in place of %s, and the module adds the option, or set "
            "AppListen tcp",
            file->file, program.name, file->file);
}

static void judge_script(const char *command, uint32_t listen,
                         detect_notes_t *notes)
{
    char line[COMMAND_INSIDE_MAX], inner[COMMAND_INSIDE_MAX];
    command_inside_file_t file;
    int is_known = command_inside_file(command, line, &file);

    if (file.has_cr)
        say(notes,
            "the lines of %s end with CR LF, as in Windows, and a program of "
            "Unix takes the CR for a part of the line: remove it (sed -i "
            "'s/\\r$//' %s)",
            file.file, file.file);
    if (!is_known || listen != APL_LISTEN_FD)
        return;
    if (file.is_shell)
        judge_program_of(&file, line, notes);
    else if (command_inside_file(line, inner, &file) && file.is_shell)
        judge_program_of(&file, inner, notes);
}

/* ---- all of it ---- */

/* Does the shell put PORT into the command? */
static int names_port(const char *command)
{
    static const char *const names[] = {"$PORT", "${PORT"};
    const char *at;
    size_t i;

    for (i = 0; i < 2; i++)
        for (at = command; (at = strstr(at, names[i])) != NULL;) {
            at += strlen(names[i]);
            if (*at != '_' && !isalnum((unsigned char)*at))
                return 1;
        }
    return 0;
}

static void find_facts(detect_line_t *line, const detect_found_t *found)
{
    int is = detect_program_is(line->command);

    line->uses_port = names_port(line->command) || is & PROGRAM_PORT;
    line->runs_node =
        found->runs_node || line->package.event[0] || is & PROGRAM_NODE;
    line->runs_ruby = found->runs_ruby ||
                      detect_text_exists(AT_FDCWD, "config.ru") ||
                      is & PROGRAM_RUBY;
}

static char *transform(const char *command, uint32_t listen,
                       detect_package_t *package);

/* What `sh -c` runs is changed like a command of its own. */
static int change_inside(char **command, uint32_t listen,
                         detect_package_t *package)
{
    char inner[COMMAND_INSIDE_MAX], *line, *exec, *quoted;
    shell_part_t word;
    int done = 1;

    if (!command_inside_c(*command, inner, &word))
        return 1;
    line = transform(inner, listen, package);
    exec = line ? shell_line_exec(line) : NULL;
    quoted = exec ? command_inside_quote(exec) : NULL;
    if (!quoted || strcmp(exec, inner) != 0)
        done = quoted && put(command, word.at, word.length, quoted);
    free(quoted);
    free(exec);
    free(line);
    return done;
}

static int change(char **command, uint32_t listen)
{
    return add_to(command, "NODE_OPTIONS") && add_to(command, "RUBYOPT") &&
           replace_cross_env(command) && add_pid_file(command) &&
           (listen == APL_LISTEN_TCP || leave_out_init(command)) &&
           (listen == APL_LISTEN_TCP || leave_out_starter(command)) &&
           (listen == APL_LISTEN_TCP || replace_starter_of_node(command)) &&
           (listen != APL_LISTEN_FD ||
            (add_socket(command) && add_mojo(command)));
}

/* @return malloc(); NULL: no memory */
static char *transform(const char *command, uint32_t listen,
                       detect_package_t *package)
{
    char *line = NULL;

    /* npm passes PORT on, and runs in any directory. */
    if (listen != APL_LISTEN_TCP)
        line = package_script_of(command, package);
    if (!line)
        line = strdup(command);
    if (line &&
        (!change(&line, listen) || !change_inside(&line, listen, package))) {
        free(line);
        return NULL;
    }
    return line;
}

int detect_line(const char *command, const detect_found_t *found,
                uint32_t listen, int is_production, detect_line_t *line)
{
    memset(line, 0, sizeof *line);
    line->package = found->package;
    line->command = transform(command, listen, &line->package);
    if (!line->command)
        return 0;
    detect_line_judge(line->command, listen, is_production, &line->notes);
    judge_script(line->command, listen, &line->notes);
    find_facts(line, found);
    line->line = shell_line_exec(line->command);
    return line->line != NULL;
}

void detect_line_free(detect_line_t *line)
{
    free(line->command);
    free(line->line);
}
