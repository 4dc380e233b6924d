/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "detect/detect.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "detect/detect_program.h"
#include "detect/detect_table.h"
#include "detect/detect_venv.h"

#define FILES 32 /* of one rule */

static int fits(const detect_rule_t *rule, const detect_config_t *config)
{
    return rule->protocol == APL_AUTO || config->protocol == APL_AUTO ||
           rule->protocol == config->protocol;
}

/* ---- is it true what a rule says of a file? ---- */

/* Directories whose files are not the app, where a rule wants the only file of
 * several. */
static int is_aside(const char *file)
{
    static const char *const places[] = {
        "tests",        "test",   "docs", "examples", "migrations",
        "node_modules", "vendor", "venv", "env",      "scripts",
        "tools",        "bin",    "tmp",  NULL};
    size_t i, n = strcspn(file, "/");

    for (i = 0; places[i] && file[n]; i++)
        if (strlen(places[i]) == n && memcmp(file, places[i], n) == 0)
            return 1;
    return !file[n] &&
           (strncmp(file, "test_", 5) == 0 ||
            strcmp(file, "conftest.py") == 0 || strcmp(file, "setup.py") == 0);
}

static int holds(const detect_rule_t *rule, int dir, const char *file,
                 char why[DETECT_WHY])
{
    *why = 0;
    return strlen(file) < sizeof((detect_found_t *)NULL)->file &&
           (!rule->beside || detect_text_exists(dir, rule->beside)) &&
           (!rule->content || detect_text_has(dir, file, rule->content)) &&
           (!rule->test || rule->test(dir, file, why));
}

/* The files of which the rule is true.
 * @param why filled in: about the last one of which it is not true
 * @return how many there are, also those of which it is not */
static size_t files_of(const detect_rule_t *rule, int dir,
                       char (*files)[DETECT_PATH_MAX], size_t *n,
                       char why[DETECT_WHY])
{
    size_t i, all = detect_text_list(dir, rule->file, files, FILES);
    char clause[DETECT_WHY];

    *n = 0;
    *why = 0;
    for (i = 0; i < all && i < FILES; i++) {
        if (rule->is_single && strchr(rule->file, '*') && is_aside(files[i]))
            continue;
        if (holds(rule, dir, files[i], clause))
            memmove(files[(*n)++], files[i], DETECT_PATH_MAX);
        else if (*clause)
            memcpy(why, clause, DETECT_WHY);
    }
    return all;
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

/* Does the virtual environment have a part in the command? */
static int needs_environment(const detect_server_t *server, const char *command)
{
    if (server)
        return server == &detect_server_wsgi ||
               server == &detect_server_uvicorn;
    return detect_program_is_python(command);
}

void detect_given(const detect_config_t *config, const char *command,
                  detect_found_t *found)
{
    memset(found, 0, sizeof *found);
    snprintf(found->why, sizeof found->why, "there is an AppCommand");
    found->protocol = config->protocol != APL_AUTO     ? config->protocol
                      : detect_program_is_php(command) ? APL_FCGI
                                                       : APL_HTTP;
    detect_program_know(command, config, found);
    found->concurrency = found->suitable;
}

/* ---- a rule gives a command ---- */

static const detect_server_t *server_of(const detect_rule_t *rule,
                                        const detect_found_t *found)
{
    return found->server ? found->server : rule->server;
}

static void set_concurrency(detect_found_t *found,
                            const detect_config_t *config)
{
    found->concurrency = config->concurrency != APL_CONCURRENCY_AUTO
                             ? config->concurrency
                             : found->suitable;
}

/* A command that somebody wrote may run any program. */
static void know(const detect_rule_t *rule, detect_found_t *found,
                 const detect_config_t *config)
{
    int is_script = found->runs_node; /* of npm, whatever it runs */
    uint32_t suitable = found->suitable;

    if (rule->server || !rule->read) {
        /* For ruby and node. The command is ours: its number is known. */
        detect_program_know(found->command, config, found);
        found->suitable = suitable;
        found->counted[0] = 0;
        found->children = 0;
        return;
    }
    detect_program_know(found->command, config, found);
    if (is_script || rule->protocol != APL_AUTO)
        found->suitable = DETECT_ANY;
    found->runs_node |= is_script;
    set_concurrency(found, config);
}

static int apply(const detect_rule_t *rule, detect_found_t *found,
                 const detect_config_t *config)
{
    const detect_server_t *server;

    found->suitable = rule->concurrency;
    found->has_template = found->is_silent = found->runs_node = 0;
    found->server = NULL;
    found->before[0] = found->counted[0] = 0;
    snprintf(found->why, DETECT_MAX, "%s is there", found->file);
    if (rule->read && !rule->read(found))
        return 0;
    set_concurrency(found, config);
    server = server_of(rule, found);
    if (server) {
        if (!detect_server_command(found, server, rule->command, config))
            return 0;
    }
    else if (!rule->read && !rule->command)
        return program(found, config);
    else if (!rule->read)
        snprintf(found->command, DETECT_MAX, "%s", rule->command);
    return 1;
}

/* Try the files of a rule, one after the other. @return 1: one gives a
 * command */
static int try_rule(const detect_rule_t *rule, detect_found_t *found,
                    const detect_config_t *config, char *other)
{
    char(*files)[DETECT_PATH_MAX] = malloc(FILES * sizeof *files);
    char why[DETECT_WHY];
    size_t i, n = 0;
    int done = 0;

    if (files)
        files_of(rule, AT_FDCWD, files, &n, why);
    if (rule->is_single && n > 1)
        n = 0;
    if (n > 0 && !fits(rule, config)) {
        snprintf(other, sizeof found->file, "%s", files[0]);
        n = 0;
    }
    for (i = 0; i < n && !done; i++) {
        snprintf(found->file, sizeof found->file, "%s", files[i]);
        done = apply(rule, found, config);
    }
    free(files);
    return done;
}

/* ---- candidates ---- */

static void list(detect_found_t *found, const char *file, int won,
                 const char *why)
{
    detect_candidate_t *one = found->candidates;
    detect_candidate_t *end = one + found->n_candidates;

    while (one < end && strncmp(one->file, file, sizeof one->file - 1) != 0)
        one++;
    if (one < end && !won)
        return; /* an earlier rule has said it */
    if (one == found->candidates + DETECT_CANDIDATES)
        return;
    found->n_candidates += one == end;
    snprintf(one->file, sizeof one->file, "%s", file);
    snprintf(one->why, sizeof one->why, "%s", why);
    one->won = won;
}

/* Why does a file not decide, of which the rule is, or is not, true? */
static void list_loser(const detect_rule_t *rule, detect_found_t *found,
                       const char *winner, const detect_config_t *config)
{
    char(*files)[DETECT_PATH_MAX] = malloc(FILES * sizeof *files);
    char clause[DETECT_WHY], why[sizeof found->candidates->why];
    size_t i,
        n = files ? detect_text_list(AT_FDCWD, rule->file, files, FILES) : 0;

    for (i = 0; i < n && i < FILES; i++) {
        int is_true = holds(rule, AT_FDCWD, files[i], clause);

        if (!is_true && !rule->lacks && !*clause)
            continue;
        snprintf(why, sizeof why, "%s",
                 !is_true                   ? *clause ? clause : rule->lacks
                 : !fits(rule, config)      ? "is for another AppProtocol"
                 : rule->is_single && n > 1 ? "is not the only file of its kind"
                                            : "");
        if (!*why)
            snprintf(why, sizeof why, "%.60s %s", winner,
                     *winner ? "comes first" : "");
        list(found, files[i], 0, why);
    }
    free(files);
}

/* The candidates, in the order of the rules. @param winner NULL: there is none */
static void list_all(detect_found_t *found, const detect_config_t *config,
                     const detect_rule_t *winner)
{
    const detect_rule_t *rule;

    for (rule = detect_rules; rule->file; rule++)
        if (rule == winner)
            list(found, found->file, 1, found->why);
        else
            list_loser(rule, found, winner ? found->file : "", config);
}

/* ---- there is no command ---- */

/* The first file of a rule, and why it gives no command. "": there is none */
static void useless(const detect_rule_t *rule, char file[DETECT_PATH_MAX],
                    char why[DETECT_WHY])
{
    char(*files)[DETECT_PATH_MAX] = malloc(FILES * sizeof *files);
    size_t n = 0;

    *why = *file = 0;
    if (files && detect_text_list(AT_FDCWD, rule->file, files, FILES) > 0) {
        snprintf(file, DETECT_PATH_MAX, "%s", files[0]);
        files_of(rule, AT_FDCWD, files, &n, why);
        if (!*why && rule->lacks)
            snprintf(why, DETECT_WHY, "%s", rule->lacks);
        if (rule->is_single && n > 1)
            snprintf(why, DETECT_WHY, "and %.60s both have an application",
                     files[1]);
        else if (strchr(rule->file, '*') && is_aside(file))
            *why = 0;
    }
    free(files);
}

/* Files that are there, and give no command. */
static size_t explain_useless(detect_found_t *found,
                              const detect_config_t *config)
{
    const detect_rule_t *rule;
    char file[DETECT_PATH_MAX], why[DETECT_WHY], part[DETECT_WHY + 70];
    size_t n = 0;

    found->why[0] = 0;
    for (rule = detect_rules; rule->file; rule++) {
        if (!fits(rule, config))
            continue;
        useless(rule, file, why);
        snprintf(part, sizeof part, "%.60s ", file);
        if (*why && n + sizeof part < DETECT_MAX / 2 &&
            !strstr(found->why, part))
            n += (size_t)snprintf(found->why + n, DETECT_MAX - n, "%s%s; ",
                                  part, why);
    }
    return n;
}

/* A front-end that is built: httpd serves its files without an application. */
static const char *built_site(void)
{
    static const char *const places[] = {"dist/index.html", "build/index.html",
                                         "out/index.html",
                                         "dist/browser/index.html"};
    size_t i;

    for (i = 0; i < sizeof places / sizeof *places; i++)
        if (detect_text_exists(AT_FDCWD, places[i]))
            return places[i];
    return NULL;
}

/* A directory below, in which there is an application. */
static int is_below(char file[DETECT_PATH_MAX])
{
    static const char *const patterns[] = {
        "*/Procfile",  "*/config.ru", "*/manage.py", "*/package.json",
        "*/server.js", "*/index.php", "*/app.psgi"};
    char(*files)[DETECT_PATH_MAX] = malloc(FILES * sizeof *files);
    size_t i, n = 0;

    for (i = 0; files && i < sizeof patterns / sizeof *patterns && n == 0; i++)
        n = detect_text_list(AT_FDCWD, patterns[i], files, FILES) > 0 &&
            !is_aside(files[0]);
    if (n > 0)
        snprintf(file, DETECT_PATH_MAX, "%s", files[0]);
    free(files);
    return n > 0;
}

/* What would settle it. */
static void advise(detect_found_t *found)
{
    char file[DETECT_PATH_MAX];
    const char *site = built_site();
    size_t n = strlen(found->why);

    if (site)
        snprintf(found->why + n, DETECT_MAX - n,
                 "; %s is a built site, which httpd serves without an AppRoot: "
                 "DocumentRoot for its directory, and FallbackResource "
                 "/index.html",
                 site);
    else if (is_below(file))
        snprintf(found->why + n, DETECT_MAX - n,
                 "; %s is there: is its directory the AppRoot?", file);
}

static void explain_none(detect_found_t *found, const detect_config_t *config,
                         const char *other)
{
    const char *between = "none of these files exists: ";
    const detect_rule_t *rule;
    size_t n = explain_useless(found, config);

    for (rule = detect_rules; rule->file; rule++)
        if (fits(rule, config) && rule->is_usual &&
            detect_text_list(AT_FDCWD, rule->file, NULL, 0) == 0) {
            n += (size_t)snprintf(found->why + n, DETECT_MAX - n, "%s%s",
                                  between, rule->file);
            between = ", ";
        }
    if (n > 1 && found->why[n - 2] == ';')
        found->why[n -= 2] = 0; /* all of them are there */
    if (*other)
        snprintf(found->why + n, DETECT_MAX - n,
                 "; %.60s is for another "
                 "AppProtocol",
                 other);
    else
        advise(found);
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

static uint32_t protocol_of(const detect_rule_t *rule,
                            const detect_config_t *config,
                            const detect_found_t *found)
{
    return rule->protocol != APL_AUTO              ? rule->protocol
           : config->protocol != APL_AUTO          ? config->protocol
           : detect_program_is_php(found->command) ? APL_FCGI
                                                   : APL_HTTP;
}

int detect_command(const detect_config_t *config, detect_found_t *found)
{
    char other[sizeof found->file] = "", why[DETECT_MAX / 2];
    const detect_rule_t *rule = detect_rules;

    memset(found, 0, sizeof *found);
    while (rule->file && !try_rule(rule, found, config, other))
        rule++;
    if (!rule->file) {
        explain_none(found, config, other);
        if (config->lists)
            list_all(found, config, NULL);
        return 0;
    }
    found->protocol = protocol_of(rule, config, found);
    know(rule, found, config);
    if (config->lists)
        list_all(found, config, rule);
    if (needs_environment(server_of(rule, found), found->command) &&
        detect_venv_is_broken(why, sizeof why))
        return refuse(found, why);
    if (found->has_template < config->is_template)
        return refuse(found,
                      "there is no template for the server that runs it");
    return !found->is_silent ||
           refuse(found, "the server that runs it does not say READY=1 "
                         "(AppReady accept does not need that)");
}

/* Is the rule true, or is there a file that cannot be read now? */
static int may_hold(const detect_rule_t *rule, char (*files)[DETECT_PATH_MAX])
{
    char why[DETECT_WHY];
    size_t n, all = files_of(rule, AT_FDCWD, files, &n, why);

    return all > 0 &&
           ((n > 0 && !(rule->is_single && n > 1)) ||
            ((rule->content || rule->test) &&
             detect_text_list(AT_FDCWD, rule->file, files, FILES) > 0 &&
             access(files[0], R_OK) != 0));
}

int detect_names(const detect_config_t *config, detect_found_t *found)
{
    char(*files)[DETECT_PATH_MAX] = malloc(FILES * sizeof *files);
    const detect_rule_t *rule;
    const char *other = "";
    int may = 0;

    memset(found, 0, sizeof *found);
    for (rule = detect_rules; files && rule->file && !may; rule++)
        if (may_hold(rule, files)) {
            may = fits(rule, config);
            if (!may && (!*other || rule->is_usual))
                other = rule->file;
        }
    free(files);
    if (!may)
        explain_none(found, config, other);
    return may;
}

/* ---- without a command ---- */

/* The first rule that is true in a directory, but of these files.
 * @param but NULL: of all; the last is NULL */
static const detect_rule_t *first_rule(const char *dir, uint32_t protocol,
                                       const char *const *but)
{
    const detect_config_t config = {.protocol = protocol};
    char(*files)[DETECT_PATH_MAX] = malloc(FILES * sizeof *files);
    int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    const detect_rule_t *rule = detect_rules, *found = NULL;
    char why[DETECT_WHY];
    size_t n, i;

    for (; files && fd >= 0 && rule->file && !found; rule++) {
        for (i = 0; but && but[i] && strcmp(but[i], rule->file) != 0;)
            i++;
        if (!fits(rule, &config) || (but && but[i] && !rule->server) ||
            (!rule->read && !rule->server && !rule->command))
            continue;
        files_of(rule, fd, files, &n, why);
        if (n == 1 || (n > 1 && !rule->is_single))
            found = rule;
    }
    if (fd >= 0)
        close(fd);
    free(files);
    return found;
}

int detect_is_php(const char *dir, uint32_t protocol)
{
    static const char *const scripts[] = {"Procfile", "package.json", NULL};
    const detect_rule_t *rule = first_rule(dir, protocol, scripts);

    return rule && rule->server == &detect_server_php;
}

uint32_t detect_protocol(const char *dir, const char **file)
{
    const detect_rule_t *rule = first_rule(dir, APL_AUTO, NULL);

    *file = rule ? rule->file : NULL;
    return !rule                        ? APL_AUTO
           : rule->protocol == APL_AUTO ? APL_HTTP
                                        : rule->protocol;
}
