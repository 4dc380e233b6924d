/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "detect/detect_program.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "detect/detect_text.h"
#include "detect/shell_line.h"

#define ANY      0   /* number of requests at once */
#define CHILDREN 5   /* of php-cgi */
#define WORDS    48  /* of a command that are looked at */
#define MOST     999 /* workers or threads; more are a mistake */

/* THE TABLE of servers. A number is that of an option, or else of a line of the
 * configuration file, or else of a variable. */
typedef struct {
    const char *name;
    int any;                /* each worker takes any number of requests */
    const char *workers[2]; /* options */
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
            "config/puma.rb", "^[[:blank:]]*workers[ (]+([^#]*)",              \
            "^[[:blank:]]*threads[ (]+([^#]*)", "WEB_CONCURRENCY",             \
            "PUMA_MAX_THREADS", {NULL, NULL}, NULL, NULL, NULL                 \
    }

static const server_t servers[] = {
    {"gunicorn",
     0,
     {"-w", "--workers"},
     {"--threads", NULL},
     {"-c", "--config"},
     "gunicorn.conf.py",
     "^workers *= *([^#]*)",
     "^threads *= *([^#]*)",
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
     "^[[:blank:]]*workers[ (]+([^#]*)",
     "^[[:blank:]]*threads[ (]+([^#]*)",
     "WEB_CONCURRENCY",
     "PUMA_MAX_THREADS",
     {NULL, NULL},
     NULL,
     NULL,
     NULL},
    {.name = "uvicorn",
     .any = 1,
     .workers = {"--workers", NULL},
     .workers_variable = "WEB_CONCURRENCY"},
    {.name = "hypercorn", .any = 1, .workers = {"-w", "--workers"}},
    {.name = "granian",
     .any = 1,
     .workers = {"--workers", NULL},
     .threads = {"--blocking-threads", NULL},
     .any_option = {"--interface", NULL},
     .any_value = "asgi|rsgi"},
    {.name = "daphne", .any = 1},
    {.name = "fastapi", .any = 1, .workers = {"--workers", NULL}},
    {.name = "waitress-serve", .threads = {"--threads", NULL}},
    {.name = "unicorn",
     .config = {"-c", "--config-file"},
     .workers_line = "^[[:blank:]]*worker_processes[ (]+([^#]*)"},
    {.name = "uwsgi",
     .workers = {"-p", "--processes"},
     .threads = {"--threads", NULL}},
    {.name = "starman", .workers = {"--workers", NULL}},
};

/* Programs that take any number of requests at once, whatever their options
 * are. */
static const char *const evented[] = {"node",   "npm", "npx", "deno",
                                      "nodejs", "bun", NULL};
static const char *const nodes[] = {"node", "nodejs", NULL};
/* Programs that a virtual environment has, and that it decides about. */
static const char *const pythons[] = {"python",  "python3",        "gunicorn",
                                      "uvicorn", "hypercorn",      "daphne",
                                      "flask",   "waitress-serve", NULL};
static const char *const rubies[] = {"ruby",  "puma",   "bundle",
                                     "rails", "rackup", NULL};
/* They execute, or run, the command that follows `run` or `exec`. */
static const char *const runners[] = {"uv",  "poetry", "pipenv", "pdm",
                                      "rye", "bundle", NULL};
static const char *const shells[] = {"sh", "bash", "dash", NULL};

/* The words of a command. */
typedef struct {
    char text[2][DETECT_MAX]; /* where the words are, also those of a shell */
    char *words[WORDS + 1];   /* NULL behind the last */
    size_t program;           /* its index, behind env and variables */
    size_t server;            /* the same, behind bundle exec and the like */
} line_t;

static const char *last_part(const char *path)
{
    const char *last = path ? strrchr(path, '/') : NULL;

    return last ? last + 1 : path ? path : "";
}

static int is_among(const char *word, const char *const *list)
{
    while (*list && strcmp(word, *list) != 0)
        list++;
    return *list != NULL;
}

/* ---- words ---- */

/* Split it, without quotes. A variable stays as it is written. */
static void split(line_t *line, const char *command, char text[DETECT_MAX])
{
    char *to = text, quote = 0;
    size_t n = 0;

    memset(line->words, 0, sizeof line->words);
    while (n < WORDS && *command && to < text + DETECT_MAX - 2) {
        command += strspn(command, " \t");
        if (!*command)
            break;
        line->words[n++] = to;
        for (; *command && to < text + DETECT_MAX - 2; command++) {
            if (quote ? *command == quote : *command == '\'' || *command == '"')
                quote = quote ? 0 : *command;
            else if (!quote && (*command == ' ' || *command == '\t'))
                break;
            else
                *to++ = *command;
        }
        *to++ = 0;
    }
}

/* The first word that is no option, variable, `env` or `exec`. `-u` of env has
 * a word of its own. */
static size_t find_program(const line_t *line)
{
    size_t i;

    for (i = 0; line->words[i]; i++) {
        const char *word = line->words[i];

        if (*word != '-' && !strchr(word, '=') &&
            strcmp(last_part(word), "env") != 0 && strcmp(word, "exec") != 0)
            break;
        if (strcmp(word, "-u") == 0 && line->words[i + 1])
            i++;
    }
    return i;
}

static int is_python(const char *word)
{
    return fnmatch("python", word, 0) == 0 ||
           fnmatch("python[23]*", word, 0) == 0;
}

/* Behind `bundle exec`, `uv run` and `python3 -m`. */
static size_t find_server(const line_t *line, size_t i)
{
    char *const *words = line->words;
    size_t next;

    while (words[i]) {
        const char *word = last_part(words[i]);

        next = i + 1;
        if (is_among(word, runners) && words[next] &&
            (strcmp(words[next], "run") == 0 ||
             strcmp(words[next], "exec") == 0))
            for (next++; words[next] && *words[next] == '-';)
                next++;
        else if (is_python(word)) {
            while (words[next] && *words[next] == '-' &&
                   strcmp(words[next], "-m") != 0)
                next++;
            if (!words[next] || strcmp(words[next], "-m") != 0)
                return i;
            next++;
        }
        else
            return i;
        i = words[next] ? next : i;
        if (i != next)
            return i;
    }
    return i;
}

static void read_line(line_t *line, const char *command)
{
    size_t i;

    split(line, shell_line_last(command), line->text[0]);
    i = find_program(line);
    /* sh -c 'COMMAND' */
    if (line->words[i] && is_among(last_part(line->words[i]), shells) &&
        line->words[i + 1] && strcmp(line->words[i + 1], "-c") == 0 &&
        line->words[i + 2]) {
        split(line, shell_line_last(line->words[i + 2]), line->text[1]);
        i = find_program(line);
    }
    line->program = i;
    line->server = find_server(line, i);
}

/* The value of an option: `-w 4`, `-w4`, `--workers=4`. NULL: it is not there */
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

/* ---- numbers ---- */

/* What the numbers are read from. */
typedef struct {
    const line_t *line;
    const detect_config_t *config;
    char *text; /* of the configuration file; NULL: there is none */
    const char *file;
    const char *unread; /* what could not be read: "threads" ... */
} source_t;

/* A variable of the command itself, or of the configuration. */
static const char *variable_of(const source_t *source, const char *name)
{
    size_t i, n = strlen(name);

    for (i = 0; i < source->line->program; i++)
        if (strncmp(source->line->words[i], name, n) == 0 &&
            source->line->words[i][n] == '=')
            return source->line->words[i] + n + 1;
    return source->config->variable
               ? source->config->variable(source->config->context, name)
               : NULL;
}

/* @return -1: it is no number */
static int digits_of(const char *text)
{
    char *end;
    long n = strtol(text, &end, 10);

    end += strspn(end, " \t)");
    return end == text || *end || n < 0 || n > MOST ? -1 : (int)n;
}

/* Behind the last comma that is in no parenthesis: `threads 1, 5`. */
static const char *last_value(const char *text)
{
    const char *last = text, *c;
    int depth = 0;

    for (c = text; *c; c++) {
        if (*c == '(' || *c == '{' || *c == '[')
            depth++;
        if (*c == ')' || *c == '}' || *c == ']')
            depth--;
        if (*c == ',' && depth == 0)
            last = c + 1;
    }
    return last + strspn(last, " \t");
}

/* A variable with a default: ENV.fetch("X") { 5 }, os.getenv("X", "5"),
 * ${X:-5}. @return -1: it is none, or has no number */
static int number_of_variable(const source_t *source, const char *text)
{
    static const char name_of[] =
        "^[^\"'$]*[\"'$]\\{?([A-Z][A-Z0-9_]*)(:-|[\"'}]|$)";
    char name[DETECT_PATH_MAX], otherwise[DETECT_PATH_MAX];
    const char *value;

    if (!detect_text_find(text, name_of, name))
        return -1;
    value = variable_of(source, name);
    if (value && digits_of(value) >= 0)
        return digits_of(value);
    if (!detect_text_find(strstr(text, name) + strlen(name),
                          "^[^0-9A-Za-z]*(or|to_i)?[^0-9A-Za-z]*([0-9]+)",
                          NULL))
        return -1;
    text = strstr(text, name) + strlen(name);
    text += strcspn(text, "0123456789");
    snprintf(otherwise, sizeof otherwise, "%.*s",
             (int)strspn(text, "0123456789"), text);
    return digits_of(otherwise);
}

/* @return -1: it cannot be read */
static int number_of(const source_t *source, const char *text)
{
    char value[DETECT_PATH_MAX], name[DETECT_PATH_MAX], pattern[320];
    int n;

    snprintf(value, sizeof value, "%s", last_value(text));
    value[strcspn(value, "\r\n")] = 0;
    n = digits_of(value);
    if (n < 0)
        n = number_of_variable(source, value);
    if (n >= 0 || !source->text ||
        !detect_text_find(value, "^([A-Za-z_][A-Za-z0-9_]*)[ )]*$", name))
        return n;
    snprintf(pattern, sizeof pattern, "^[[:blank:]]*%s *= *([^#]*)", name);
    if (!detect_text_find(source->text, pattern, name))
        return -1;
    snprintf(value, sizeof value, "%s", name);
    value[strcspn(value, "\r\n")] = 0;
    n = digits_of(value);
    return n >= 0 ? n : number_of_variable(source, value);
}

/* puma has `-t MIN:MAX`, in which a variable may have a default. */
static const char *behind_colon(const char *text)
{
    const char *colon = strrchr(text, ':');

    return colon && colon[1] != '-' ? colon + 1 : text;
}

/* @param what for the sentence: "threads"
 * @return 1 if nothing says it, or if it cannot be read */
static int count(source_t *source, const char *const options[2],
                 const char *more, const char *line, const char *variable,
                 const char *what)
{
    char value[DETECT_PATH_MAX];
    const char *said =
        option_of(source->line->words + source->line->server, options);
    line_t of_variable;
    int n;

    if (!said && more && variable_of(source, more)) {
        split(&of_variable, variable_of(source, more), of_variable.text[0]);
        said = option_of(of_variable.words, options);
        if (said)
            snprintf(value, sizeof value, "%s", said);
        said = said ? value : NULL;
    }
    if (said)
        said = behind_colon(said);
    else if (line && source->text &&
             detect_text_find(source->text, line, value))
        said = value;
    else if (variable)
        said = variable_of(source, variable);
    n = said ? number_of(source, said) : 1;
    if (n < 0)
        source->unread = what;
    return n < 1 ? 1 : n;
}

static int is_any(const source_t *source, const server_t *server)
{
    char *const *words = source->line->words + source->line->server;
    const char *value = option_of(words, server->any_option);
    const char *more = server->more ? variable_of(source, server->more) : NULL;

    if (value)
        return detect_text_matches(value, server->any_value);
    if (more && server->any_value && strstr(more, "-k ") &&
        detect_text_matches(strstr(more, "-k "), server->any_value))
        return 1;
    return server->any || (server->any_line && source->text &&
                           detect_text_matches(source->text, server->any_line));
}

static void read_config(source_t *source, const server_t *server)
{
    const char *file =
        option_of(source->line->words + source->line->server, server->config);

    source->file = file ? file : server->file;
    if (source->file && strncmp(source->file, "./", 2) == 0)
        source->file += 2;
    if (source->file)
        source->text = detect_text_read(AT_FDCWD, source->file);
    /* A file that was named and cannot be read may say anything. */
    if (file && !source->text)
        source->unread = "numbers";
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
    if (source->unread)
        snprintf(text + n, size - n,
                 "%sthe %s of %.80s cannot be read and count 1: AppConcurrency "
                 "sets the number",
                 n ? "; " : "", source->unread,
                 source->text || strcmp(source->unread, "numbers") == 0
                     ? source->file
                     : server->name);
}

static void count_requests(const line_t *line, const server_t *server,
                           const detect_config_t *config, detect_found_t *found)
{
    source_t source = {line, config, NULL, NULL, NULL};
    int workers, threads, any;

    read_config(&source, server);
    any = is_any(&source, server);
    workers = count(&source, server->workers, server->more,
                    server->workers_line, server->workers_variable, "workers");
    threads =
        any ? 1
            : count(&source, server->threads, server->more,
                    server->threads_line, server->threads_variable, "threads");
    found->suitable = any ? ANY : (uint32_t)(workers * threads);
    say(found, &source, server, workers, threads, any);
    free(source.text);
}

/* Its children share one opcode cache. */
static void count_children(const line_t *line, const detect_config_t *config,
                           detect_found_t *found)
{
    const source_t source = {line, config, NULL, NULL, NULL};
    const char *said = variable_of(&source, "PHP_FCGI_CHILDREN");
    int n = said ? digits_of(said) : -1;

    found->suitable = n > 0 ? (uint32_t)n : said ? 1 : CHILDREN;
    if (!said)
        found->children = config->concurrency == APL_CONCURRENCY_AUTO
                              ? CHILDREN
                              : config->concurrency;
    if (found->children == 1)
        found->children = 0; /* it serves by itself */
    if (found->suitable > 1)
        snprintf(found->counted, sizeof found->counted,
                 "php-cgi has %u children", found->suitable);
}

/* ---- the program ---- */

static int is_php(const char *word)
{
    word = last_part(word);
    return fnmatch("php-cgi*", word, 0) == 0 ||
           fnmatch("php[0-9]*-cgi", word, 0) == 0;
}

void detect_program_know(const char *command, const detect_config_t *config,
                         detect_found_t *found)
{
    line_t line;
    const char *program, *server;
    size_t i;

    read_line(&line, command);
    program = last_part(line.words[line.program]);
    server = last_part(line.words[line.server]);
    found->suitable = is_among(program, evented) ? ANY : 1;
    found->children = 0;
    found->counted[0] = 0;
    found->runs_node = is_among(program, nodes);
    found->runs_ruby = is_among(program, rubies);
    if (is_php(program))
        count_children(&line, config, found);
    for (i = 0; i < sizeof servers / sizeof *servers; i++)
        if (strcmp(server, servers[i].name) == 0)
            count_requests(&line, &servers[i], config, found);
}

int detect_program_is_php(const char *command)
{
    line_t line;

    read_line(&line, command);
    return is_php(line.words[line.program]);
}

int detect_program_is_python(const char *command)
{
    line_t line;
    const char *word;

    read_line(&line, command);
    word = line.words[line.program];
    return word && *word != '/' && is_among(last_part(word), pythons);
}
