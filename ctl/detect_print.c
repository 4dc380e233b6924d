/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "ctl/commands.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctl/values.h"
#include "shm/format/format.h"
#include "base/contract.h"
#include "detect/detect.h"
#include "detect/detect_line.h"
#include "detect/detect_path.h"
#include "base/privilege.h"

/* Become the owner of the directory, and change into it.
 * @param account filled in, if it is not root
 * @return 0: that failed, and `why` has the reason */
static int go(const char *dir, privilege_t *account, char why[DETECT_MAX])
{
    struct stat st;

    if (chdir(dir) != 0 || stat(".", &st) != 0) {
        snprintf(why, DETECT_MAX, "%s", strerror(errno));
        return 0;
    }
    /* A directory of root cannot harm root. */
    return geteuid() != 0 || st.st_uid == 0 ||
           (privilege_find(account, NULL, NULL, st.st_uid, dir, why) == 0 &&
            privilege_groups(account, why) == 0 &&
            privilege_drop(account, 0, why) == 0);
}

static const char *word_of(uint32_t protocol)
{
    return protocol == APL_FCGI ? "fcgi" : "http";
}

static detect_notes_t notes; /* about the command */

/* The variables that the files of the app set. */
static json_t *environment_of(const detect_path_t *path)
{
    json_t *o = json_object();
    char name[64];
    size_t i, n;

    if (strcmp(path->path, DETECT_PATH_STANDARD) != 0)
        json_object_set_new(o, "PATH", json_string(path->path));
    for (i = 0; path->variables[i]; i++) {
        n = strcspn(path->variables[i], "=");
        snprintf(name, sizeof name, "%.*s", (int)n, path->variables[i]);
        json_object_set_new(o, name, json_string(path->variables[i] + n + 1));
    }
    return o;
}

/* In the order in which they are tried. */
static json_t *candidates_of(const detect_found_t *found)
{
    json_t *list = json_array();
    size_t i;

    for (i = 0; i < found->n_candidates; i++)
        json_array_append_new(list, json_pack("{ss, sb, ss}", "file",
                                              found->candidates[i].file, "wins",
                                              found->candidates[i].won, "why",
                                              found->candidates[i].why));
    return list;
}

static void print_candidates(FILE *to, const detect_found_t *found)
{
    size_t i;

    for (i = 0; i < found->n_candidates; i++)
        fprintf(to, "  %-4s  %s: %s\n",
                found->candidates[i].won ? "won" : "lost",
                found->candidates[i].file, found->candidates[i].why);
}

static const char *preload_of(const detect_found_t *template)
{
    return template->has_template == CONTRACT_PRELOAD_AUTO ? "auto" : "On";
}

static void print_json(const char *dir, const detect_found_t *found,
                       const detect_found_t *template,
                       const detect_path_t *path)
{
    int has = template->command[0] != 0;
    json_t *o =
        *found->file
            ? json_pack(
                  "{ss, ss, sI, ss, ss, ss, ss, ss?, ss?, so, so}", "directory",
                  dir, "protocol", word_of(found->protocol), "concurrency",
                  (json_int_t)found->concurrency, "file", found->file, "why",
                  found->why, "counted", found->counted, "command",
                  found->command, "preload", has ? preload_of(template) : NULL,
                  "template", has ? template->command : NULL, "environment",
                  environment_of(path), "candidates", candidates_of(found))
            : json_pack("{ss, ss, so}", "directory", dir, "error", found->why,
                        "candidates", candidates_of(found));
    json_t *said = json_array();
    char *text;
    int i;

    for (i = 0; i < notes.n; i++)
        json_array_append_new(said, json_string(notes.text[i]));
    if (notes.n > 0)
        json_object_set(o, "notes", said);
    json_decref(said);
    text = json_dumps(o, JSON_INDENT(1));

    puts(text ? text : "{\"error\": \"something there is not UTF-8\"}");
    free(text);
    json_decref(o);
}

static void print(const char *dir, const detect_found_t *found,
                  const detect_found_t *template, const detect_path_t *path)
{
    size_t i;

    printf("%s: %s\n  AppProtocol %s\n  AppConcurrency %u%s%s\n", dir,
           found->why, word_of(found->protocol), found->concurrency,
           *found->counted ? ": " : "", found->counted);
    if (strcmp(path->path, DETECT_PATH_STANDARD) != 0)
        printf("  PATH=%s\n", path->path);
    for (i = 0; path->variables[i]; i++)
        printf("  %s\n", path->variables[i]);
    printf("  %s\n", found->command);
    for (i = 0; i < (size_t)notes.n; i++)
        printf("  note: %s\n", notes.text[i]);
    if (*template->command)
        printf("  AppPreload %s: %s\n", preload_of(template),
               template->command);
    print_candidates(stdout, found);
}

/* The command as it is run, where AppListen is fd. */
static void read_line(detect_found_t *found)
{
    detect_line_t line;
    int i;

    if (!detect_line(found->command, found, APL_LISTEN_FD, 1, &line))
        return;
    snprintf(found->command, sizeof found->command, "%s", line.command);
    found->runs_node = line.runs_node;
    found->runs_ruby = line.runs_ruby;
    notes = line.notes;
    for (i = 0; i < notes.n; i++)
        values_calm(notes.text[i]);
    detect_line_free(&line);
}

/* @param template its command is empty if there is none */
static int find(detect_found_t *found, detect_found_t *template)
{
    detect_config_t config = {.listen = APL_LISTEN_FD,
                              .protocol = APL_AUTO,
                              .concurrency = APL_CONCURRENCY_AUTO,
                              .lists = 1};
    int good = detect_command(&config, found);
    size_t i;

    values_calm(found->counted);
    for (i = 0; i < found->n_candidates; i++) {
        values_calm(found->candidates[i].file);
        values_calm(found->candidates[i].why);
    }
    if (!good)
        return 0;
    config.lists = 0;
    config.is_template = CONTRACT_PRELOAD_ON;
    if (!detect_command(&config, template))
        template->command[0] = 0;
    read_line(found);
    values_calm(found->command);
    values_calm(template->command);
    return 1;
}

/* Which variables belong to the command? With what the spawner adds for ruby,
 * and for node, where AppListen is fd. */
static void find_variables(const char *home, const detect_found_t *found,
                           detect_path_t *path)
{
    size_t i;

    detect_path(home, NULL, path);
    if (found->runs_node)
        detect_path_set(
            path,
            "NODE_OPTIONS=--require \"$APPPOOL_HELPERS/node/listen.cjs\"");
    if (found->runs_ruby)
        detect_path_set(path, "RUBYOPT=-r$APPPOOL_HELPERS/ruby/stop.rb");
    values_calm(path->path);
    for (i = 0; path->variables[i]; i++)
        values_calm(path->variables[i]);
}

const char *detect_print(const char *dir, int raw)
{
    static char shown[PATH_MAX], error[sizeof shown + DETECT_MAX + 2];
    static detect_found_t found, template;
    static detect_path_t path;
    static privilege_t account;
    int good = go(dir, &account, found.why) && find(&found, &template);

    if (!*account.home && getenv("HOME"))
        snprintf(account.home, sizeof account.home, "%s", getenv("HOME"));
    if (good) /* otherwise this may still be root */
        find_variables(account.home, &found, &path);
    values_calm(found.why);
    snprintf(shown, sizeof shown, "%s", dir);
    values_calm(shown);
    if (raw)
        print_json(shown, &found, &template, &path);
    else if (good)
        print(shown, &found, &template, &path);
    else
        print_candidates(stderr, &found);
    detect_path_free(&path);
    snprintf(error, sizeof error, "%s: %s", shown, found.why);
    return good ? NULL : error;
}
