/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "detect/detect.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "detect/detect_file.h"
#include "detect/detect_server.h"
#include "detect/detect_venv.h"

#define CHILDREN 5 /* of php-cgi */
#define ANY      0 /* number of requests at once */

/* THE TABLE: the first file that exists and gives a command decides. A rule
 * with a server runs that server, and `command` is its last argument. Other
 * rules run `command`. If `command` is NULL, the command is what `read` has
 * found. Without `read`, it is the file itself. A file that may give no command
 * has a clause about that: `lacks`. */
static const struct {
    const char *file;              /* or a pattern */
    uint32_t protocol;             /* AppProtocol; APL_AUTO: any */
    uint32_t concurrency;          /* AppConcurrency that suits it */
    detect_file_t *read;           /* reads the file; NULL: nothing to read */
    const detect_server_t *server; /* NULL: none */
    const char *command;           /* NULL: see above */
    const char *lacks;             /* NULL: it always gives a command */
} rules[] = {
    {"Procfile", APL_AUTO, 1, detect_file_procfile, NULL, NULL,
     "has no web: line that can be run"},
    {"config.ru", APL_HTTP, 1, NULL, &detect_server_puma, "", NULL},
    {"passenger_wsgi.py", APL_HTTP, 1, NULL, &detect_server_wsgi,
     "passenger_wsgi", NULL},
    {"wsgi.py", APL_HTTP, 1, NULL, &detect_server_wsgi, "wsgi", NULL},
    {"asgi.py", APL_HTTP, ANY, NULL, &detect_server_uvicorn, "asgi:application",
     NULL},
    {"*/wsgi.py", APL_HTTP, 1, detect_file_django, &detect_server_wsgi, NULL,
     "needs a manage.py in AppRoot"},
    {"package.json", APL_HTTP, ANY, detect_file_package, NULL, NULL,
     "has no start script that can be run"},
    {"server.js", APL_HTTP, ANY, NULL, NULL, "node server.js", NULL},
    {"app.js", APL_HTTP, ANY, NULL, NULL, "node app.js", NULL},
    {"*.fcgi", APL_FCGI, 1, NULL, NULL, NULL,
     "has to be executable, with a plain name, and AppListen has to be fd"},
    {"index.php", APL_FCGI, CHILDREN, NULL, &detect_server_php, "", NULL},
    {"public/index.php", APL_FCGI, CHILDREN, NULL, &detect_server_php, "",
     NULL},
};

/* Commands that take any number of requests at once. */
static const char *const evented[] = {"node", "npm",    "npx",       "uvicorn",
                                      "deno", "nodejs", "hypercorn", "daphne",
                                      "bun",  NULL};
static const char *const nodes[] = {"node", "nodejs", NULL};
/* Programs that a virtual environment has, and that it decides about. */
static const char *const pythons[] = {"python",  "python3",        "gunicorn",
                                      "uvicorn", "hypercorn",      "daphne",
                                      "flask",   "waitress-serve", NULL};
static const char *const rubies[] = {"ruby",  "puma",   "bundle",
                                     "rails", "rackup", NULL};

static int fits(size_t rule, const detect_config_t *config)
{
    return rules[rule].protocol == APL_AUTO || config->protocol == APL_AUTO ||
           rules[rule].protocol == config->protocol;
}

/* The file itself is the program. It takes its socket as descriptor 0 only, and
 * its name must need no quotes in a shell. */
static int program(detect_found_t *found, const detect_config_t *config)
{
    return config->listen == APL_LISTEN_FD && access(found->file, X_OK) == 0 &&
           found->file[strspn(found->file, DETECT_PLAIN)] == 0 &&
           snprintf(found->command, DETECT_MAX, "./%s", found->file) <
               DETECT_MAX;
}

/* The program of a command: the first word that is no option, variable or
 * `env`. `-u` of env has a word of its own. */
static void find_program(const char *command, char name[DETECT_MAX])
{
    char text[DETECT_MAX], *word, *rest = NULL;
    const char *last;

    snprintf(text, sizeof text, "%s", command);
    *name = 0;
    for (word = strtok_r(text, " \t", &rest); word;
         word = strtok_r(NULL, " \t", &rest)) {
        last = strrchr(word, '/');
        last = last ? last + 1 : word;
        if (*word == '-' || strchr(word, '=') || strcmp(last, "env") == 0 ||
            strcmp(word, "exec") == 0) {
            if (strcmp(word, "-u") == 0)
                strtok_r(NULL, " \t", &rest);
            continue;
        }
        snprintf(name, DETECT_MAX, "%s", word);
        return;
    }
}

/* Is its program one of these, in any directory? */
static int runs(const char *command, const char *const *programs)
{
    char word[DETECT_MAX];
    const char *last;

    find_program(command, word);
    last = strrchr(word, '/');
    last = last ? last + 1 : word;
    while (*programs && strcmp(last, *programs) != 0)
        programs++;
    return *programs != NULL;
}

/* Does the virtual environment have a part in the command? Who names a program
 * by an absolute path has chosen another Python. */
static int needs_environment(const detect_server_t *server, const char *command)
{
    char word[DETECT_MAX];

    if (server)
        return server == &detect_server_wsgi ||
               server == &detect_server_uvicorn;
    find_program(command, word);
    return *word != '/' && runs(command, pythons);
}

/* @param suitable number for this kind of app */
static uint32_t concurrency_of(const detect_config_t *config, uint32_t suitable)
{
    return config->concurrency != APL_CONCURRENCY_AUTO ? config->concurrency
                                                       : suitable;
}

void detect_given(const detect_config_t *config, const char *command,
                  detect_found_t *found)
{
    memset(found, 0, sizeof *found);
    snprintf(found->why, sizeof found->why, "there is an AppCommand");
    found->protocol =
        config->protocol == APL_AUTO ? APL_HTTP : config->protocol;
    found->concurrency = runs(command, evented) ? ANY : 1;
    found->runs_node = runs(command, nodes);
    found->runs_ruby = runs(command, rubies);
}

static int apply(size_t rule, detect_found_t *found,
                 const detect_config_t *config)
{
    found->concurrency = concurrency_of(config, rules[rule].concurrency);
    found->has_template = found->is_silent = found->runs_node = 0;
    snprintf(found->why, DETECT_MAX, "%s is there", found->file);
    if (rules[rule].read && !rules[rule].read(found))
        return 0;
    if (rules[rule].server)
        detect_server_command(found, rules[rule].server, rules[rule].command,
                              config);
    else if (!rules[rule].read && !rules[rule].command)
        return program(found, config);
    else if (!rules[rule].read)
        snprintf(found->command, DETECT_MAX, "%s", rules[rule].command);
    return 1;
}

/* @return the first file of a rule, which the caller frees; NULL: none */
static char *first_file(size_t rule)
{
    glob_t files;
    size_t i;
    char *first = NULL;

    if (glob(rules[rule].file, 0, NULL, &files) != 0)
        return NULL;
    for (i = 0; i < files.gl_pathc && !first; i++)
        if (detect_file_exists(files.gl_pathv[i]))
            first = strdup(files.gl_pathv[i]);
    globfree(&files);
    return first;
}

/* Files that are there, and give no command.
 * @param is_there filled in: one for each rule */
static size_t explain_useless(detect_found_t *found,
                              const detect_config_t *config,
                              int is_there[sizeof rules / sizeof *rules])
{
    size_t i, n = 0;
    char *file;

    for (i = 0; i < sizeof rules / sizeof *rules; i++) {
        file = fits(i, config) && rules[i].lacks ? first_file(i) : NULL;
        is_there[i] = file != NULL;
        if (file)
            n += (size_t)snprintf(found->why + n, DETECT_MAX - n, "%.60s %s; ",
                                  file, rules[i].lacks);
        free(file);
    }
    return n;
}

static void explain_none(detect_found_t *found, const detect_config_t *config,
                         const char *other)
{
    const char *between = "none of these files exists: ";
    int is_there[sizeof rules / sizeof *rules];
    size_t i, n = explain_useless(found, config, is_there);

    for (i = 0; i < sizeof rules / sizeof *rules; i++)
        if (fits(i, config) && !is_there[i]) {
            n += (size_t)snprintf(found->why + n, DETECT_MAX - n, "%s%s",
                                  between, rules[i].file);
            between = ", ";
        }
    if (n > 1 && found->why[n - 2] == ';')
        found->why[n -= 2] = 0; /* all of them are there */
    if (*other)
        snprintf(found->why + n, DETECT_MAX - n,
                 "; %.60s is for another "
                 "AppProtocol",
                 other);
    found->command[0] = found->file[0] = 0;
}

/* The file decides, but its command is not what is wanted. @return 0 */
static int refuse(detect_found_t *found, const char *why)
{
    size_t n = strlen(found->why);

    snprintf(found->why + n, DETECT_MAX - n, ", and %s", why);
    found->command[0] = 0;
    return 0;
}

/* Try the files of a rule, one after the other. @return 1: one gives a
 * command */
static int try_rule(size_t rule, detect_found_t *found,
                    const detect_config_t *config, char *other)
{
    glob_t files;
    size_t i;
    int done = 0;

    if (glob(rules[rule].file, 0, NULL, &files) != 0)
        return 0;
    for (i = 0; i < files.gl_pathc && !done; i++) {
        const char *file = files.gl_pathv[i];

        if (!detect_file_exists(file) || strlen(file) >= sizeof found->file)
            continue;
        snprintf(fits(rule, config) ? found->file : other, sizeof found->file,
                 "%s", file);
        done = fits(rule, config) && apply(rule, found, config);
    }
    globfree(&files);
    return done;
}

int detect_command(const detect_config_t *config, detect_found_t *found)
{
    char other[sizeof found->file] = "", why[DETECT_MAX / 2];
    size_t i;

    for (i = 0; i < sizeof rules / sizeof *rules; i++)
        if (try_rule(i, found, config, other)) {
            found->protocol = rules[i].protocol != APL_AUTO  ? rules[i].protocol
                              : config->protocol != APL_AUTO ? config->protocol
                                                             : APL_HTTP;
            /* A Procfile may name any program. */
            if (rules[i].protocol == APL_AUTO &&
                (found->runs_node || runs(found->command, evented)))
                found->concurrency = concurrency_of(config, ANY);
            found->runs_node |= runs(found->command, nodes);
            found->runs_ruby = runs(found->command, rubies);
            if (needs_environment(rules[i].server, found->command) &&
                detect_venv_is_broken(why, sizeof why))
                return refuse(found, why);
            if (found->has_template < config->is_template)
                return refuse(found, "there is no template for the server that "
                                     "runs it");
            return !found->is_silent ||
                   refuse(found, "the server that runs it does not say READY=1 "
                                 "(AppReady accept does not need that)");
        }
    explain_none(found, config, other);
    return 0;
}

int detect_names(const detect_config_t *config, detect_found_t *found)
{
    const char *other = "";
    size_t i;
    char *file;

    memset(found, 0, sizeof *found);
    for (i = 0; i < sizeof rules / sizeof *rules; i++) {
        file = first_file(i);
        if (!file)
            continue;
        free(file);
        if (fits(i, config))
            return 1;
        other = rules[i].file;
    }
    explain_none(found, config, other);
    return 0;
}

static int is_in(const char *dir, const char *file)
{
    char path[PATH_MAX];

    return !strchr(file, '*') &&
           snprintf(path, sizeof path, "%s/%s", dir, file) < (int)sizeof path &&
           detect_file_exists(path);
}

int detect_is_php(const char *dir, uint32_t protocol)
{
    const detect_config_t config = {.protocol = protocol};
    size_t i;

    for (i = 0; i < sizeof rules / sizeof *rules; i++)
        if (fits(i, &config) && (!rules[i].read || rules[i].server) &&
            is_in(dir, rules[i].file))
            return rules[i].server == &detect_server_php;
    return 0;
}

uint32_t detect_protocol(const char *dir, const char **file)
{
    size_t i;

    for (i = 0; i < sizeof rules / sizeof *rules; i++) {
        *file = rules[i].file;
        if (is_in(dir, *file))
            return rules[i].protocol == APL_AUTO ? APL_HTTP : rules[i].protocol;
    }
    return APL_AUTO;
}
