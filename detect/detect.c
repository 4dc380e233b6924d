/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "detect/detect.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "detect/detect_explain.h"
#include "detect/detect_program.h"
#include "detect/detect_rule.h"
#include "detect/detect_table.h"
#include "detect/detect_venv.h"

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
               server == &detect_server_uvicorn ||
               server == &detect_server_listen;
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

/* What the program of the command means. The number of requests is known if the
 * command is ours; somebody else may have written any program. */
static void know(const detect_rule_t *rule, detect_found_t *found,
                 const detect_config_t *config)
{
    int is_script = found->runs_node; /* of npm, whatever it runs */
    int is_ours = rule->server || !rule->read;
    uint32_t suitable = found->suitable;

    detect_program_know(found->command, config, found);
    found->runs_node |= is_script;
    if (is_ours || is_script || rule->protocol != APL_AUTO) {
        found->suitable = suitable;
        found->counted[0] = 0;
        found->is_unread = 0;
        found->children = 0;
    }
    if (is_script)
        found->suitable = DETECT_ANY;
    set_concurrency(found, config);
}

/* @return 0: the file gives no command. If its server cannot listen, the file
 * decides, and the command is empty */
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
    found->is_written = rule->read && !server;
    if (server)
        detect_server_command(found, server, rule->command, config);
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
    char(*files)[DETECT_PATH_MAX] = malloc(DETECT_RULE_FILES * sizeof *files);
    char why[DETECT_WHY];
    size_t i, n = 0;
    int done = 0;

    if (files)
        detect_rule_files(rule, AT_FDCWD, files, &n, why);
    if (rule->is_single && n > 1)
        n = 0;
    if (n > 0 && !detect_rule_fits(rule, config)) {
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
    char *names = detect_text_names(AT_FDCWD);

    memset(found, 0, sizeof *found);
    while (rule->file && (!detect_text_may_exist(names, rule->file) ||
                          !try_rule(rule, found, config, other)))
        rule++;
    free(names);
    if (!rule->file) {
        detect_explain_none(found, config, other);
        if (config->lists)
            detect_explain_all(found, config, NULL);
        return 0;
    }
    found->protocol = protocol_of(rule, config, found);
    know(rule, found, config);
    if (config->lists)
        detect_explain_all(found, config, rule);
    if (!*found->command)
        return 0;
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
    size_t n, all = detect_rule_files(rule, AT_FDCWD, files, &n, why);

    return all > 0 && ((n > 0 && !(rule->is_single && n > 1)) ||
                       ((rule->content || rule->test) &&
                        detect_text_list(AT_FDCWD, rule->file, files,
                                         DETECT_RULE_FILES) > 0 &&
                        access(files[0], R_OK) != 0));
}

int detect_names(const detect_config_t *config, detect_found_t *found)
{
    char(*files)[DETECT_PATH_MAX] = malloc(DETECT_RULE_FILES * sizeof *files);
    char *there = detect_text_names(AT_FDCWD);
    const detect_rule_t *rule;
    const char *other = "";
    int may = 0;

    memset(found, 0, sizeof *found);
    for (rule = detect_rules; files && rule->file && !may; rule++)
        if (detect_text_may_exist(there, rule->file) && may_hold(rule, files)) {
            may = detect_rule_fits(rule, config);
            if (!may && (!*other || rule->is_usual))
                other = rule->file;
        }
    free(there);
    free(files);
    if (!may)
        detect_explain_none(found, config, other);
    return may;
}

/* ---- without a command ---- */

/* The first rule that is true in a directory, but of these files.
 * @param but NULL: of all; the last is NULL */
static const detect_rule_t *first_rule(const char *dir, uint32_t protocol,
                                       const char *const *but)
{
    const detect_config_t config = {.protocol = protocol};
    char(*files)[DETECT_PATH_MAX] = malloc(DETECT_RULE_FILES * sizeof *files);
    int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    char *names = fd < 0 ? NULL : detect_text_names(fd);
    const detect_rule_t *rule = detect_rules, *found = NULL;
    char why[DETECT_WHY];
    size_t n, i;

    for (; files && fd >= 0 && rule->file && !found; rule++) {
        for (i = 0; but && but[i] && strcmp(but[i], rule->file) != 0;)
            i++;
        if (!detect_text_may_exist(names, rule->file) ||
            !detect_rule_fits(rule, &config) ||
            (but && but[i] && !rule->server) ||
            (!rule->read && !rule->server && !rule->command))
            continue;
        detect_rule_files(rule, fd, files, &n, why);
        if (n == 1 || (n > 1 && !rule->is_single))
            found = rule;
    }
    if (fd >= 0)
        close(fd);
    free(names);
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
