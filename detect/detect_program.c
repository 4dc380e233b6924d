/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "detect/detect_program.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "detect/command_inside.h"
#include "detect/detect_file.h"
#include "detect/detect_text.h"
#include "detect/number_of.h"

#define ANY      0 /* number of requests at once */
#define CHILDREN 5 /* of php-cgi */
#define DEEP     4 /* lines within lines */

/* THE TABLE of servers. A number is that of an option, or else of a line of the
 * configuration file, or else of a variable. */
typedef struct {
    const char *name;
    int any;                /* each worker takes any number of requests */
    const char *workers[2]; /* options: the letter, the word */
    const char *threads[2];
    const char *config[2];
    const char *file;         /* of the configuration, by default */
    const char *workers_line; /* patterns of its lines */
    const char *threads_line;
    const char *workers_variable;
    const char *threads_variable;
    const char *any_option[2]; /* with such a value, it is `any` */
    const char *any_value;
    const char *any_line;
    const char *more; /* a variable with more options */
} server_t;

#define ASYNC "uvicorn|gevent|eventlet|tornado|aiohttp|asgi|Uvicorn"
#define PUMA(name)                                                             \
    {                                                                          \
        name, 0, {"-w", "--workers"}, {"-t", "--threads"}, {"-C", "--config"}, \
            "config/puma.rb", "^[[:blank:]]*workers[ (]+([^#;]*)",             \
            "^[[:blank:]]*threads[ (]+([^#;]*)", "WEB_CONCURRENCY",            \
            "PUMA_MAX_THREADS", {NULL, NULL}, NULL, NULL, NULL                 \
    }

#define UWSGI(name)                                                            \
    {                                                                          \
        name, .workers = {"-p", "--processes"}, .threads = {                   \
            "--threads",                                                       \
            NULL                                                               \
        }                                                                      \
    }
static const server_t servers[] = {
    {"gunicorn",
     0,
     {"-w", "--workers"},
     {"--threads", NULL},
     {"-c", "--config"},
     "gunicorn.conf.py",
     "^[[:blank:]]*workers[ :a-z]*= *([^#;]*)",
     "^[[:blank:]]*threads[ :a-z]*= *([^#;]*)",
     "WEB_CONCURRENCY",
     NULL,
     {"-k", "--worker-class"},
     ASYNC,
     "^worker_class *= *[\"'].*(" ASYNC ")",
     "GUNICORN_CMD_ARGS"},
    PUMA("puma"),
    {"rails",
     0,
     {NULL, NULL},
     {NULL, NULL},
     {NULL, NULL},
     "config/puma.rb",
     "^[[:blank:]]*workers[ (]+([^#;]*)",
     "^[[:blank:]]*threads[ (]+([^#;]*)",
     "WEB_CONCURRENCY",
     "PUMA_MAX_THREADS",
     {NULL, NULL},
     NULL,
     NULL,
     NULL},
    {.name = "uvicorn",
     .any = 1,
     .workers = {NULL, "--workers"},
     .workers_variable = "WEB_CONCURRENCY"},
    {.name = "hypercorn", .any = 1, .workers = {"-w", "--workers"}},
    {.name = "granian",
     .any = 1,
     .workers = {NULL, "--workers"},
     .threads = {"--blocking-threads", NULL},
     .any_option = {"--interface", NULL},
     .any_value = "asgi|rsgi"},
    {.name = "daphne", .any = 1},
    {.name = "fastapi", .any = 1, .workers = {NULL, "--workers"}},
    {.name = "waitress-serve", .threads = {"--threads", NULL}},
    {.name = "unicorn",
     .config = {"-c", "--config-file"},
     .workers_line = "^[[:blank:]]*worker_processes[ (]+([^#;]*)"},
    UWSGI("uwsgi"),
    UWSGI("uwsgi-core"),
    {.name = "starman", .workers = {NULL, "--workers"}},
};

/* A command, or the line within it that names the program. */
typedef struct {
    const char *command, *text;
    char inner[COMMAND_INSIDE_MAX];
    program_of_t program;
    int is_known; /* the name of the program */
    int is_absolute;
    char buffer[DETECT_MAX];
    char *words[SHELL_LINE_WORDS + 1]; /* from the program on, as written; NULL
                                          behind the last */
} line_t;

/* ---- words ---- */

/* Split it, as far as there is room. */
static void split(line_t *line, const shell_line_t *read, size_t first)
{
    char *to = line->buffer, *end = to + sizeof line->buffer;
    size_t i, n = 0;

    for (i = first; i < read->n_words; i++) {
        if (!shell_line_written(line->text, &read->words[i], to,
                                (size_t)(end - to)))
            break;
        line->words[n++] = to;
        to += strlen(to) + 1;
    }
    line->words[n] = NULL;
}

static void read_text(line_t *line, const char *text, shell_line_t *read)
{
    line->text = text;
    shell_line_read(text, read);
    line->is_known = program_of(text, read, &line->program);
    line->is_absolute = read->n_words > line->program.after &&
                        text[read->words[line->program.after].at] == '/';
    split(line, read, line->program.word);
}

static const server_t *server_of(const line_t *line)
{
    size_t i;

    for (i = 0; i < sizeof servers / sizeof *servers; i++)
        if (strcmp(line->program.name, servers[i].name) == 0)
            return &servers[i];
    return NULL;
}

static void read_line(line_t *line, const char *command, int reads_files)
{
    char next[COMMAND_INSIDE_MAX];
    command_inside_file_t file;
    shell_line_t read;
    int depth;

    line->command = command;
    read_text(line, command, &read);
    for (depth = 0;
         depth < DEEP && !line->program.is && !server_of(line) &&
         (command_inside_c(line->text, next, NULL) ||
          (reads_files && command_inside_file(line->text, next, &file)));
         depth++) {
        memcpy(line->inner, next, sizeof next);
        read_text(line, line->inner, &read);
    }
}

/* The value of an option: `-w 4`, `-w4`, `--workers=4`. NULL: it is not
 * there */
static const char *option_of(char *const *words, const char *const names[2])
{
    const char *value = NULL;
    size_t i, k, n;

    for (i = 0; words[i]; i++)
        for (k = 0; k < 2; k++) {
            n = names[k] ? strlen(names[k]) : 0;
            if (n == 0 || strncmp(words[i], names[k], n) != 0)
                continue;
            if (!words[i][n])
                value = words[i + 1];
            else if (words[i][n] == '=')
                value = words[i] + n + 1;
            else if (n == 2)
                value = words[i] + n;
        }
    return value;
}

/* ---- what the numbers are read from ---- */

typedef struct {
    const line_t *line;
    const detect_config_t *config;
    line_t more; /* a variable with more options: its words */
    char *text;  /* of the configuration file; NULL: there is none */
    const char *file;
    char unread[192];            /* a clause: what cannot be read */
    char value[DETECT_PATH_MAX]; /* of a variable that the command sets */
} source_t;

/* A variable of the command itself, or of the configuration.
 * @return valid until the next call; NULL: it is not set */
static const char *variable_of(source_t *source, const char *name)
{
    const line_t *line = source->line;

    if (shell_line_value(line->text, name, source->value,
                         sizeof source->value) ||
        shell_line_value(line->command, name, source->value,
                         sizeof source->value))
        return source->value;
    return source->config->variable
               ? source->config->variable(source->config->context, name)
               : NULL;
}

/* @return NULL: neither the command nor the variable with more options has
 * it */
static const char *said_by(const source_t *source, const char *const names[2])
{
    const char *value = option_of(source->line->words, names);

    return value ? value : option_of(source->more.words, names);
}

/* puma has `-t MIN:MAX`, in which a variable may have a default. */
static const char *behind_colon(const char *text)
{
    const char *last = text, *c;
    int depth = 0;

    for (c = text; *c; c++) {
        depth += *c == '{' ? 1 : *c == '}' ? -1 : 0;
        if (*c == ':' && depth == 0)
            last = c + 1;
    }
    return last;
}

/* The last line of the configuration file that matches. One that is indented
 * depends on something that nobody knows here: then `value` is "if". */
static int find_line(const source_t *source, const char *pattern,
                     char value[DETECT_PATH_MAX])
{
    const char *line = source->text && pattern
                           ? detect_text_last(source->text, pattern, value)
                           : NULL;

    if (line && (*line == ' ' || *line == '\t'))
        snprintf(value, DETECT_PATH_MAX, "if");
    return line != NULL;
}

static const char *variable_for_number(void *source, const char *name)
{
    return variable_of(source, name);
}

static void note_unread(source_t *source, const char *what, const char *where)
{
    size_t n = strlen(source->unread);

    snprintf(source->unread + n, sizeof source->unread - n, "%sthe %s of %.60s",
             n ? " and " : "", what, where);
}

/* @param what for the sentence: "threads"
 * @return 1 if nothing says it, or if it cannot be read */
static int count(source_t *source, const char *const options[2],
                 const char *line, const char *variable, const char *what)
{
    char value[DETECT_PATH_MAX] = "1";
    const char *said = said_by(source, options), *where = variable;
    int n;

    if (said) {
        snprintf(value, sizeof value, "%s", behind_colon(said));
        where = source->line->program.name;
    }
    else if (find_line(source, line, value))
        where = source->file;
    else if (variable && (said = variable_of(source, variable)) != NULL)
        snprintf(value, sizeof value, "%s", said);
    n = number_of(value, source->text, variable_for_number, source);
    if (n == NUMBER_OF_UNKNOWN)
        note_unread(source, what, where);
    return n < 1 ? 1 : n;
}

static int is_any(const source_t *source, const server_t *server)
{
    const char *value = said_by(source, server->any_option);

    if (value)
        return detect_text_matches(value, server->any_value);
    return server->any || (server->any_line && source->text &&
                           detect_text_matches(source->text, server->any_line));
}

static void read_more(source_t *source, const server_t *server)
{
    const char *more = server->more ? variable_of(source, server->more) : NULL;
    shell_line_t read;

    if (more)
        read_text(&source->more, more, &read);
}

static void read_config(source_t *source, const server_t *server)
{
    const char *file = said_by(source, server->config);

    if (file && strncmp(file, "file:", 5) == 0)
        file += 5; /* as gunicorn may have it */
    source->file = file ? file : server->file;
    if (source->file && strncmp(source->file, "./", 2) == 0)
        source->file += 2;
    if (source->file)
        source->text = detect_text_read(AT_FDCWD, source->file);
    /* A file that was named and cannot be read may say anything. */
    if (file && !source->text)
        note_unread(source, "numbers", file);
}

static void say(detect_found_t *found, const source_t *source,
                const server_t *server, int workers, int threads, int any)
{
    char *text = found->counted;
    size_t n = 0, size = sizeof found->counted;

    if (any)
        n += (size_t)snprintf(text, size, "%s takes any number", server->name);
    else if (workers > 1 || threads > 1)
        n += (size_t)snprintf(text, size, "%s has %d thread%s", server->name,
                              threads, threads > 1 ? "s" : "");
    if (workers > 1)
        n += (size_t)snprintf(text + n, size - n,
                              " in each of %d workers of its own", workers);
    found->is_unread = *source->unread != 0;
    if (found->is_unread)
        snprintf(text + n, size - n,
                 "%s%s cannot be read and count 1: AppConcurrency sets the "
                 "number",
                 n ? "; " : "", source->unread);
}

static void count_requests(const line_t *line, const server_t *server,
                           const detect_config_t *config, detect_found_t *found)
{
    source_t source = {.line = line, .config = config};
    int workers, threads, any;

    read_more(&source, server);
    read_config(&source, server);
    any = is_any(&source, server);
    workers = count(&source, server->workers, server->workers_line,
                    server->workers_variable, "workers");
    threads = any ? 1
                  : count(&source, server->threads, server->threads_line,
                          server->threads_variable, "threads");
    found->suitable = any ? ANY : (uint32_t)(workers * threads);
    say(found, &source, server, workers, threads, any);
    free(source.text);
}

/* Its children share one opcode cache. */
static void count_children(const line_t *line, const detect_config_t *config,
                           detect_found_t *found)
{
    source_t source = {.line = line, .config = config};
    const char *said = variable_of(&source, "PHP_FCGI_CHILDREN");
    int n = said ? number_of_digits(said) : CHILDREN;

    found->suitable = n > 0 ? (uint32_t)n : 1;
    found->is_unread = n == NUMBER_OF_UNKNOWN;
    if (!said)
        found->children = config->concurrency == APL_CONCURRENCY_AUTO
                              ? CHILDREN
                              : config->concurrency;
    if (found->children == 1)
        found->children = 0; /* it serves by itself */
    if (found->suitable > 1)
        snprintf(found->counted, sizeof found->counted,
                 "php-cgi has %u children", found->suitable);
    if (found->is_unread)
        snprintf(found->counted, sizeof found->counted,
                 "PHP_FCGI_CHILDREN is no number that can be read and counts "
                 "1: AppConcurrency sets the number");
}

/* ---- the program ---- */

/* PROGRAM_* */
static int what_is(const line_t *line)
{
    return line->program.is |
           (line->is_known && detect_file_is_of_npm(line->program.name)
                ? PROGRAM_NODE | PROGRAM_ANY
                : 0);
}

static int is_php(const line_t *line)
{
    return line->is_known &&
           (fnmatch("php-cgi*", line->program.name, 0) == 0 ||
            fnmatch("php[0-9]*-cgi", line->program.name, 0) == 0);
}

void detect_program_know(const char *command, const detect_config_t *config,
                         detect_found_t *found)
{
    const server_t *server;
    line_t line;
    int is;

    read_line(&line, command, 1);
    is = what_is(&line);
    server = server_of(&line);
    found->suitable = is & PROGRAM_ANY ? ANY : 1;
    found->children = 0;
    found->counted[0] = 0;
    found->is_unread = 0;
    found->runs_node = (is & PROGRAM_NODE) != 0;
    found->runs_ruby = (is & PROGRAM_RUBY) != 0;
    if (is_php(&line))
        count_children(&line, config, found);
    if (server)
        count_requests(&line, server, config, found);
}

int detect_program_workers(const char *command, const detect_config_t *config,
                           const char **name)
{
    source_t source = {.config = config};
    const server_t *server;
    line_t line;

    read_line(&line, command, 0);
    server = server_of(&line);
    if (!server)
        return 1;
    source.line = &line;
    read_more(&source, server);
    *name = said_by(&source, server->workers) ? server->workers[1]
                                              : server->workers_variable;
    return count(&source, server->workers, NULL, server->workers_variable,
                 "workers");
}

int detect_program_is(const char *command)
{
    line_t line;

    read_line(&line, command, 1);
    return what_is(&line);
}

int detect_program_is_php(const char *command)
{
    line_t line;

    read_line(&line, command, 0);
    return is_php(&line);
}

int detect_program_is_python(const char *command)
{
    line_t line;

    read_line(&line, command, 1);
    return line.program.is & PROGRAM_PYTHON && !line.is_absolute &&
           !*line.program.starter;
}
