/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "detect/program_of.h"

#include <stdio.h>
#include <string.h>

/* ---- what is known by a name ---- */

#define ON_NODE (PROGRAM_NODE | PROGRAM_ANY)
#define SERVER  PROGRAM_PORT
static const struct {
    const char *name;
    int is;
} programs[] = {
    {"node", ON_NODE},
    {"nodejs", ON_NODE},
    {"ts-node", ON_NODE},
    {"ts-node-esm", ON_NODE},
    {"tsx", ON_NODE},
    {"next", ON_NODE},
    {"nuxt", ON_NODE},
    {"nuxi", ON_NODE},
    {"npm", PROGRAM_ANY},
    {"yarn", PROGRAM_ANY},
    {"pnpm", PROGRAM_ANY},
    {"deno", PROGRAM_ANY},
    {"bun", PROGRAM_ANY},
    {"python", PROGRAM_PYTHON},
    {"flask", PROGRAM_PYTHON},
    {"gunicorn", PROGRAM_PYTHON | SERVER},
    {"uvicorn", PROGRAM_PYTHON | SERVER},
    {"hypercorn", PROGRAM_PYTHON | SERVER},
    {"daphne", PROGRAM_PYTHON | SERVER},
    {"waitress-serve", PROGRAM_PYTHON | SERVER},
    {"ruby", PROGRAM_RUBY},
    {"bundle", PROGRAM_RUBY},
    {"puma", PROGRAM_RUBY | SERVER},
    {"rackup", PROGRAM_RUBY | SERVER},
    {"rails", PROGRAM_RUBY | SERVER},
    {"thin", PROGRAM_RUBY | SERVER},
    {"unicorn", PROGRAM_RUBY | SERVER},
};

/* `python3.11` is a python. */
static int is_named(const char *name, const char *program)
{
    size_t n = strlen(program);

    return strcmp(name, program) == 0 ||
           (strcmp(program, "python") == 0 && strncmp(name, program, n) == 0 &&
            name[n + strspn(name + n, ".0123456789")] == 0);
}

static int is_known_as(const char *name)
{
    size_t i;

    for (i = 0; i < sizeof programs / sizeof *programs; i++)
        if (is_named(name, programs[i].name))
            return programs[i].is;
    return 0;
}

/* ---- what stands before a program ---- */

/* How the program comes after it. */
enum { BECOMES, FINDS, FORKS, INIT };

typedef struct {
    const char *first, *second; /* NULL: it has one word */
    const char *values;         /* options that have a value */
    int how;
    int is;
    const char *advice;
} starter_t;

#define OF_UV                                                                  \
    " --project --directory --env-file --with --python -p --extra --group "    \
    "--package "
#define SYNC   "have uv make .venv in AppRoot (uv sync)"
#define BIN    "install it in AppRoot (node_modules/.bin)"
#define NO_ENV "set AppEnvFile"
static const starter_t starters[] = {
    {"env", NULL, " -u --unset -C --chdir ", BECOMES, 0, NULL},
    {"nohup", NULL, " ", BECOMES, 0, NULL},
    {"nice", NULL, " -n ", BECOMES, 0, NULL},
    {"ionice", NULL, " -c -n ", BECOMES, 0, NULL},
    {"stdbuf", NULL, " -i -o -e ", BECOMES, 0, NULL},
    {"cross-env", NULL, " ", BECOMES, 0, NULL},
    {"bundle", "exec", " ", BECOMES, PROGRAM_RUBY, NULL},
    {"ddtrace-run", NULL, " ", BECOMES, 0, NULL},
    {"opentelemetry-instrument", NULL, " ", BECOMES, 0, NULL},
    {"newrelic-admin", "run-program", " ", BECOMES, 0, NULL},
    {"asdf", "exec", " ", BECOMES, 0, NULL},
    {"mise", "exec", " ", BECOMES, 0, NULL},
    {"mise", "x", " ", BECOMES, 0, NULL},
    {"rbenv", "exec", " ", BECOMES, 0, NULL},
    {"pyenv", "exec", " ", BECOMES, 0, NULL},
    {"poetry", "run", " ", FINDS, 0, NULL},
    {"pipenv", "run", " ", FINDS, 0, NULL},
    {"pdm", "run", " ", FORKS, 0, NULL},
    {"rye", "run", " ", FORKS, 0, NULL},
    {"hatch", "run", " ", FORKS, 0, NULL},
    {"uv", "run", OF_UV, FORKS, 0, SYNC},
    {"chruby-exec", NULL, " ", FORKS, 0,
     "put the bin/ of that Ruby into PATH (AppSetEnv PATH)"},
    {"npx", NULL, " -p --package ", FORKS, PROGRAM_ANY, BIN},
    {"npm", "exec", " -p --package ", FORKS, PROGRAM_ANY, BIN},
    {"npm", "x", " -p --package ", FORKS, PROGRAM_ANY, BIN},
    {"yarn", "exec", " ", FORKS, PROGRAM_ANY, BIN},
    {"pnpm", "exec", " ", FORKS, PROGRAM_ANY, BIN},
    {"bunx", NULL, " -p --package ", FORKS, PROGRAM_ANY, BIN},
    {"dotenv", "run", " ", FORKS, 0, NO_ENV},
    {"dotenv", NULL, " -e -f -v ", FORKS, 0, NO_ENV},
    {"dotenvx", "run", " -f -e --env-file --env ", FORKS, 0, NO_ENV},
    {"env-cmd", NULL, " -f --file -e --environments ", FORKS, 0, NO_ENV},
    {"tini", NULL, " -p -e ", INIT, 0, NULL},
    {"dumb-init", NULL, " -r --rewrite ", INIT, 0, NULL},
    {"catatonit", NULL, " ", INIT, 0, NULL},
    {"setsid", NULL, " ", FORKS, 0, NULL},
};

/* A word without its directory. @return 0: not known */
static int name_of(const char *line, const shell_line_t *read, size_t i,
                   char name[PROGRAM_OF_MAX])
{
    char word[512];
    const char *last;

    *name = 0;
    if (i >= read->n_words ||
        !shell_line_word(line, &read->words[i], word, sizeof word))
        return 0;
    last = strrchr(word, '/');
    last = last ? last + 1 : word;
    snprintf(name, PROGRAM_OF_MAX, "%.63s", last);
    return *name != 0;
}

static int is_word(const char *line, const shell_line_t *read, size_t i,
                   const char *what)
{
    char name[PROGRAM_OF_MAX];

    return name_of(line, read, i, name) && strcmp(name, what) == 0;
}

/* Skip a starter with its options and variables. @return the next word */
static size_t skip(const char *line, const shell_line_t *read, size_t i,
                   const starter_t *starter)
{
    char word[PROGRAM_OF_MAX];

    for (i += starter->second ? 2 : 1; i < read->n_words; i++) {
        const char *at = line + read->words[i].at;

        /* env $(cat .env) PROGRAM */
        if (shell_line_assigns(at) || (*at == '$' && at[1] == '(') ||
            *at == '`')
            continue;
        if (*at != '-')
            break;
        snprintf(word, sizeof word, "%.*s",
                 (int)(read->words[i].length < sizeof word
                           ? read->words[i].length
                           : sizeof word - 1),
                 at);
        if (strcmp(word, "--") == 0)
            return i + 1;
        i += shell_line_is_among(word, starter->values) ? 1 : 0;
    }
    if (strcmp(starter->first, "chruby-exec") == 0)
        while (i < read->n_words && !is_word(line, read, i - 1, "--"))
            i++;
    return i;
}

static const starter_t *find_starter(const char *line, const shell_line_t *read,
                                     size_t i)
{
    size_t k;

    for (k = 0; k < sizeof starters / sizeof *starters; k++)
        if (is_word(line, read, i, starters[k].first) &&
            (!starters[k].second ||
             is_word(line, read, i + 1, starters[k].second)))
            return &starters[k];
    return NULL;
}

/* `python3 -u -m MODULE` */
static void find_module(const char *line, const shell_line_t *read,
                        program_of_t *program)
{
    char word[PROGRAM_OF_MAX];
    size_t i;

    if (!is_named(program->name, "python"))
        return;
    for (i = program->word + 1;
         i + 1 < read->n_words && line[read->words[i].at] == '-'; i++) {
        name_of(line, read, i, word);
        if (strcmp(word, "-m") == 0 &&
            name_of(line, read, i + 1, program->name)) {
            program->word = i + 1;
            if (strcmp(program->name, "waitress") == 0)
                snprintf(program->name, PROGRAM_OF_MAX, "waitress-serve");
            return;
        }
        i += shell_line_is_among(word, " -X -W ") ? 1 : 0;
    }
}

/* @param next the word behind it */
static void add_starter(program_of_t *program, const starter_t *starter,
                        size_t i, size_t next)
{
    program->is |= starter->is;
    if (*program->starter)
        return;
    program->from = starter->how == BECOMES ? next : i;
    if (starter->how == BECOMES)
        return;
    program->behind = next;
    program->is_found = starter->how == FINDS;
    program->is_init = starter->how == INIT;
    program->advice = starter->advice;
    snprintf(program->starter, sizeof program->starter, "%s%s%s",
             starter->first, starter->second ? " " : "",
             starter->second ? starter->second : "");
}

int program_of(const char *line, const shell_line_t *read,
               program_of_t *program)
{
    const starter_t *starter;
    size_t i = 0, next;

    memset(program, 0, sizeof *program);
    while ((starter = find_starter(line, read, i)) != NULL) {
        next = skip(line, read, i, starter);
        add_starter(program, starter, i, next);
        i = next;
    }
    program->word = program->after = i;
    if (!name_of(line, read, i, program->name))
        return 0;
    find_module(line, read, program);
    program->is |= is_known_as(program->name);
    return 1;
}

/* ---- what is said of some programs ---- */

typedef struct {
    const char *program; /* or the begin of its name, if that is python */
    const char *word;    /* that it has to have; NULL: none */
    const char *unless;  /* words that it must not have; NULL: none */
    const char *instead;
} hint_t;

#define NOT_FOUND "leave out the command, and the module runs "
static const hint_t developed[] = {
    {"flask", "run", NULL,
     "run gunicorn MODULE:APP, or " NOT_FOUND "a wsgi.py itself"},
    {"python", "runserver", NULL,
     "run gunicorn SITE.wsgi, or " NOT_FOUND "manage.py's SITE/wsgi.py itself"},
    {"manage.py", "runserver", NULL,
     "run gunicorn SITE.wsgi, or " NOT_FOUND "manage.py's SITE/wsgi.py itself"},
    {"fastapi", "dev", NULL, "run uvicorn MODULE:APP"},
    {"uvicorn", "--reload", NULL, "leave out --reload"},
    {"hypercorn", "--reload", NULL, "leave out --reload"},
    {"gunicorn", "--reload", NULL, "leave out --reload"},
    {"nodemon", NULL, NULL, "run node with the same file"},
    {"node", "--watch", NULL, "leave out --watch"},
    {"tsx", "watch", NULL,
     "run node with the built file, or tsx without watch"},
    {"ts-node-dev", NULL, NULL, "run node with the built file"},
    {"tsnd", NULL, NULL, "run node with the built file"},
    {"next", "dev", NULL, "run next build once, and next start here"},
    {"next", NULL, "start|build|export",
     "run next build once, and next start "
     "here"},
    {"nuxt", "dev", NULL,
     "run nuxt build once, and node "
     ".output/server/index.mjs here"},
    {"nuxi", "dev", NULL,
     "run nuxi build once, and node "
     ".output/server/index.mjs here"},
    {"nest", "--watch", NULL,
     "run nest build once, and node dist/main.js here"},
    {"vite", NULL, "build",
     "run vite build once; httpd sends dist/ "
     "(DocumentRoot), or node runs the built server"},
    {"astro", "dev", NULL,
     "run astro build once; httpd sends dist/, or node "
     "runs dist/server/entry.mjs"},
    {"react-scripts", "start", NULL,
     "run react-scripts build once; httpd sends build/ (DocumentRoot)"},
    {"vue-cli-service", "serve", NULL,
     "run vue-cli-service build once; httpd sends dist/ (DocumentRoot)"},
    {"ng", "serve", NULL,
     "run ng build once; httpd sends dist/ (DocumentRoot)"},
    {"webpack", "serve", NULL,
     "run webpack once; httpd sends what it makes (DocumentRoot)"},
    {"webpack-dev-server", NULL, NULL,
     "run webpack once; httpd sends what it makes (DocumentRoot)"},
    {"php", "-S", NULL, NOT_FOUND "php-cgi for index.php"},
    {"php", "serve", NULL, NOT_FOUND "php-cgi for public/index.php"},
    {"morbo", NULL, NULL, "run the program with daemon"},
    {"rerun", NULL, NULL, "run puma"},
    {"shotgun", NULL, NULL, "run puma"},
};

#define PROCFILE NOT_FOUND "the web: line of the Procfile"
#define POOL                                                                   \
    "write the command that it runs, such as node server.js. The pool starts " \
    "as many processes as it needs, and starts them again"
#define ALONE                                                                  \
    "write the command of the server alone, and run the others in another "    \
    "way, as by systemd"
static const hint_t managers[] = {
    {"pm2", NULL, NULL, POOL},
    {"pm2-runtime", NULL, NULL, POOL},
    {"forever", NULL, NULL, POOL},
    {"foreman", "start", NULL, PROCFILE},
    {"honcho", "start", NULL, PROCFILE},
    {"nf", "start", NULL, PROCFILE},
    {"overmind", "start|s", NULL, PROCFILE},
    {"hivemind", NULL, NULL, PROCFILE},
    {"heroku", "local", NULL, PROCFILE},
    {"concurrently", NULL, NULL, ALONE},
    {"npm-run-all", NULL, NULL, ALONE},
    {"run-p", NULL, NULL, ALONE},
    {"run-s", NULL, NULL, ALONE},
    {"turbo", NULL, NULL, ALONE},
    {"nx", NULL, NULL, ALONE},
    {"lerna", "run", NULL, ALONE},
    {"supervisord", NULL, NULL, ALONE},
};

static int has(const char *line, const shell_line_t *read, size_t from,
               const char *words)
{
    char word[PROGRAM_OF_MAX], one[PROGRAM_OF_MAX];
    size_t i, n;

    for (i = from; i < read->n_words; i++) {
        if (!name_of(line, read, i, word))
            continue;
        for (const char *at = words; *at; at += n + (at[n] == '|')) {
            n = strcspn(at, "|");
            snprintf(one, sizeof one, "%.*s", (int)n, at);
            if (strcmp(word, one) == 0)
                return 1;
        }
    }
    return 0;
}

static const char *find_hint(const char *line, const shell_line_t *read,
                             const program_of_t *program, const hint_t *hints,
                             size_t n)
{
    size_t i, from = program->word + 1;

    for (i = 0; i < n; i++)
        if (is_named(program->name, hints[i].program) &&
            (!hints[i].word || has(line, read, from, hints[i].word)) &&
            (!hints[i].unless || !has(line, read, from, hints[i].unless)))
            return hints[i].instead;
    return NULL;
}

const char *program_of_production(const char *line, const shell_line_t *read,
                                  const program_of_t *program)
{
    return find_hint(line, read, program, developed,
                     sizeof developed / sizeof *developed);
}

const char *program_of_managed(const char *line, const shell_line_t *read,
                               const program_of_t *program)
{
    return find_hint(line, read, program, managers,
                     sizeof managers / sizeof *managers);
}
