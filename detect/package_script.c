/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "detect/package_script.h"

#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "detect/command_inside.h"
#include "detect/detect_file.h"
#include "detect/detect_text.h"
#include "detect/program_of.h"
#include "detect/shell_line.h"

#define DEEP     6 /* scripts that name scripts */
#define PATH     "PATH=\"$PWD/node_modules/.bin:$PATH\""
#define OF_NPM   "env " PATH " "
#define WORD     128

/* Of workspaces: what is looked at. */
#define PATTERNS 16
#define STARS    2   /* in a pattern */
#define SPACES   256 /* for each of them */

/* What such a command says. */
typedef struct {
    size_t at;          /* where the command begins, behind what starts it */
    char dir[PATH_MAX]; /* of the package, from the current directory */
    char script[WORD];
    const char *more; /* arguments for the script, in the line; "": none */
    int is_npm;       /* the others also run programs of node_modules/.bin */
} request_t;

/* ---- package.json ---- */

static json_t *read_package(const char *dir)
{
    char path[PATH_MAX], *text;
    json_t *o;

    if (snprintf(path, sizeof path, "%s/package.json", dir) >= (int)sizeof path)
        return NULL;
    text = detect_text_read(AT_FDCWD, path);
    o = text ? json_loads(text, 0, NULL) : NULL;
    free(text);
    return o;
}

static const char *member(const json_t *o, const char *name)
{
    const char *value = json_string_value(json_object_get(o, name));

    return value ? value : "";
}

static int is_named(const char *dir, const char *name)
{
    json_t *o = read_package(dir);
    int is = o && strcmp(member(o, "name"), name) == 0;

    json_decref(o);
    return is;
}

/* May a pattern of package.json be looked for? One with more stars could have
 * any number of names. */
static int is_bounded(const char *pattern)
{
    size_t i, stars = 0;

    for (i = 0; pattern[i]; i++)
        stars += pattern[i] == '*';
    return stars <= STARS && pattern[strspn(pattern, DETECT_PLAIN "/@*")] == 0;
}

/* A workspace that this pattern names. A directory whose name needs quotes in a
 * shell is none. */
static int find_like(const char *pattern, const char *name, char dir[PATH_MAX])
{
    char(*files)[DETECT_PATH_MAX] = malloc(SPACES * sizeof *files);
    char all[DETECT_PATH_MAX];
    size_t i, n = 0, root = strlen(dir);
    int found = 0;

    pattern += strncmp(pattern, "./", 2) == 0 ? 2 : 0;
    if (files && is_bounded(pattern) &&
        snprintf(all, sizeof all, "%s/%s/package.json", dir, pattern) <
            (int)sizeof all)
        n = detect_text_list(AT_FDCWD, all, files, SPACES);
    for (i = 0; i < n && i < SPACES && !found; i++) {
        *strrchr(files[i], '/') = 0;
        found = files[i][strspn(files[i], DETECT_PLAIN "/@")] == 0 &&
                (strcmp(files[i] + root + 1, name) == 0 ||
                 is_named(files[i], name));
        if (found)
            snprintf(dir, PATH_MAX, "%s", files[i]);
    }
    free(files);
    return found;
}

/* Those that pnpm-workspace.yaml lists, a line each. */
static json_t *read_pnpm(const char *dir)
{
    char path[PATH_MAX], place[WORD], *text = NULL, *line, *rest = NULL;
    json_t *places = json_array();

    if (snprintf(path, sizeof path, "%s/pnpm-workspace.yaml", dir) <
        (int)sizeof path)
        text = detect_text_read(AT_FDCWD, path);
    for (line = text ? strtok_r(text, "\r\n", &rest) : NULL; line;
         line = strtok_r(NULL, "\r\n", &rest))
        if (sscanf(line, " - %*1[\"']%127[^\"'#]", place) == 1 ||
            sscanf(line, " - %127[^\"'# ]", place) == 1)
            json_array_append_new(places, json_string(place));
    free(text);
    return places;
}

/* The directories of which one may be a workspace. */
static json_t *places_of(const char *dir)
{
    json_t *o = read_package(dir), *places = read_pnpm(dir);
    json_t *own = json_object_get(o, "workspaces");

    if (json_is_object(own))
        own = json_object_get(own, "packages");
    json_array_extend(places, own);
    json_decref(o);
    return places;
}

/* A workspace is named by its directory, or by its package. */
static int find_workspace(const char *name, char dir[PATH_MAX])
{
    json_t *places = places_of(dir), *place;
    size_t i;
    int found = 0;

    if (strncmp(name, "./", 2) == 0)
        name += 2;
    json_array_foreach(places, i, place)
    {
        found = json_is_string(place) &&
                find_like(json_string_value(place), name, dir);
        if (found || i + 1 == PATTERNS)
            break;
    }
    json_decref(places);
    return found;
}

/* ---- the command ---- */

/* How they write it. The first word that is no option and no `run` is the
 * script. A word behind an option of `places` is a directory, and of `spaces` a
 * workspace. */
typedef struct {
    const char *name, *places, *spaces;
    int passes; /* what comes behind the script are its arguments */
} manager_t;
static const manager_t managers[] = {
    {"npm", " --prefix -C ", " --workspace -w ", 0},
    {"yarn", " --cwd ", " workspace ", 1},
    {"pnpm", " --dir -C ", " --filter -F ", 1},
    {"bun", " --cwd ", " --filter -F ", 1},
};
#define QUIET " --silent -s --quiet -q --if-present "
#define RUNS  " run run-script "
#define OTHERS                                                                 \
    " install i ci add exec x dlx create init build-all audit publish test "

static int set_dir(request_t *request, const char *dir)
{
    char under[PATH_MAX];

    if (dir[strspn(dir, DETECT_PLAIN "/@")] ||
        snprintf(under, sizeof under, "%s/%s", request->dir, dir) >=
            (int)sizeof under)
        return 0;
    snprintf(request->dir, sizeof request->dir, "%s", under);
    return 1;
}

static const manager_t *find_manager(const char *word)
{
    size_t i;

    for (i = 0; i < sizeof managers / sizeof *managers; i++)
        if (strcmp(word, managers[i].name) == 0)
            return &managers[i];
    return NULL;
}

/* An option with a value, `--prefix DIR` or `--prefix=DIR`.
 * @param i of the word; of its value afterwards
 * @return 1: done; 0: it is another word; -1: not understood */
static int take_place(const char *line, const shell_line_t *read, size_t *i,
                      const manager_t *manager, request_t *request)
{
    char word[WORD], value[WORD], *equal;

    shell_line_word(line, &read->words[*i], word, sizeof word);
    equal = *word == '-' ? strchr(word, '=') : NULL;
    if (equal)
        *equal++ = 0;
    if (!shell_line_is_among(word, manager->places) &&
        !shell_line_is_among(word, manager->spaces))
        return 0;
    if (equal)
        snprintf(value, sizeof value, "%s", equal);
    else if (++*i >= read->n_words ||
             !shell_line_word(line, &read->words[*i], value, sizeof value))
        return -1;
    return (shell_line_is_among(word, manager->places)
                ? set_dir(request, value)
                : find_workspace(value, request->dir))
               ? 1
               : -1;
}

/* A word behind the name of the script. @return 1: from here on, all words are
 * arguments of the script; 0: it says nothing; -1: not understood */
static int take_argument(const char *line, const shell_line_t *read, size_t i,
                         const manager_t *manager, request_t *request)
{
    char word[WORD];

    shell_line_word(line, &read->words[i], word, sizeof word);
    if (manager->passes || *word != '-')
        request->more = line + read->words[i].at;
    else if (strcmp(word, "--") != 0)
        return shell_line_is_among(word, QUIET) ? 0 : -1;
    else if (i + 1 < read->n_words)
        request->more = line + read->words[i + 1].at;
    return 1;
}

/* @param dir the directory in which the line runs
 * @return 1: it is a command that runs a script */
static int parse(const char *line, const shell_line_t *read, const char *dir,
                 request_t *request)
{
    const manager_t *manager;
    program_of_t program;
    char word[WORD];
    size_t i;
    int done = 0;

    if (!program_of(line, read, &program))
        return 0;
    snprintf(request->dir, sizeof request->dir, "%s", dir);
    request->at = read->words[program.word].at;
    manager = find_manager(program.name);
    for (i = program.word + 1; manager && i < read->n_words && done != 1; i++) {
        shell_line_word(line, &read->words[i], word, sizeof word);
        done = take_place(line, read, &i, manager, request);
        if (done == 1)
            done = 0;
        else if (done == 0 && *request->script)
            done = take_argument(line, read, i, manager, request);
        else if (done == 0 && !shell_line_is_among(word, QUIET RUNS)) {
            if (!*word || *word == '-' || shell_line_is_among(word, OTHERS))
                return 0;
            snprintf(request->script, sizeof request->script, "%s", word);
        }
        if (done < 0)
            return 0;
    }
    request->is_npm = manager && !manager->passes;
    return manager && *request->script != 0;
}

/* ---- the script ---- */

static char *resolve(const char *line, const char *dir, int depth,
                     detect_package_t *of);

/* env does what cross-env does, and is replaced by the program instead of
 * waiting for it. */
static const char *without_cross_env(const char *command)
{
    static const char name[] = "cross-env ";
    size_t n = sizeof name - 1;

    command += strspn(command, " ");
    return strncmp(command, name, n) == 0 ? command + n : command;
}

/* A script with its PATH. @param before "cd DIR && ", or "" */
static char *with_path(const char *before, const char *script)
{
    const char *plain = without_cross_env(script);
    shell_line_t read;
    char *text = NULL;
    int is_one = shell_line_read(script, &read) && !read.is_list &&
                 read.is_program && !read.has_exec;
    int n;

    if (is_one && strncmp(plain, OF_NPM, sizeof OF_NPM - 1) == 0)
        n = asprintf(&text, "%s%s", before, plain); /* of another script */
    else if (is_one)
        n = asprintf(&text, "%s" OF_NPM "%s", before, plain);
    else
        n = asprintf(&text, "%sexport " PATH "; %s", before, script);
    return n < 0 ? NULL : text;
}

/* `yarn PROGRAM` where no script has that name. PATH has it already. */
static char *run_program(const request_t *request, json_t *package)
{
    char *line;

    json_decref(package);
    return asprintf(&line, "%s%s%s", request->script, *request->more ? " " : "",
                    request->more) < 0
               ? NULL
               : line;
}

static char *script_line(const request_t *request, const char *base, int depth,
                         int with_pre, detect_package_t *of)
{
    json_t *o = read_package(request->dir);
    const json_t *scripts = json_object_get(o, "scripts");
    const char *script = member(scripts, request->script), *pre;
    char name[WORD + 4], before[PATH_MAX + 16] = "", *line = NULL, *inner,
                                           *text = NULL;

    snprintf(name, sizeof name, "pre%s", request->script);
    pre = with_pre ? member(scripts, name) : "";
    if (!*script && strcmp(request->script, "start") == 0 && o)
        script = "node server.js"; /* as npm has it */
    if (!*script && !request->is_npm && strcmp(request->dir, ".") == 0 &&
        (detect_file_is_of_npm(request->script) ||
         strcmp(request->script, "node") == 0))
        return run_program(request, o);
    if (!*script ||
        asprintf(&line, "%s%s%s%s%s", pre, *pre ? " && " : "", script,
                 *request->more ? " " : "", request->more) < 0) {
        json_decref(o);
        return NULL;
    }
    snprintf(of->name, sizeof of->name, "%s", member(o, "name"));
    snprintf(of->version, sizeof of->version, "%s", member(o, "version"));
    snprintf(of->event, sizeof of->event, "%.63s", request->script);
    json_decref(o);
    inner = resolve(line, request->dir, depth + 1, of);
    if (strcmp(request->dir, base) != 0)
        snprintf(before, sizeof before, "cd %s && ",
                 request->dir + strlen(base) + 1);
    text = with_path(before, inner ? inner : line);
    free(inner);
    free(line);
    return text;
}

/* What stands before the script: variables, and what starts it. `exec` would be
 * wrong before a list, and comes later. */
static char *text_before(const char *line, const shell_line_t *read,
                         const request_t *request)
{
    char *text = strndup(line, request->at), *at;

    if (text && read->has_exec) {
        at = text + read->program;
        at -= strlen("exec");
        while (strncmp(at, "exec", 4) != 0)
            at--;
        memmove(at, text + read->program, strlen(text + read->program) + 1);
    }
    return text;
}

/* Put the script into the line, in place of the command. */
static char *put_in(const char *line, const shell_line_t *read,
                    const request_t *request, const char *script)
{
    shell_line_t inner;
    int is_list = !shell_line_read(script, &inner) || inner.is_list;
    char *start = text_before(line, read, request), *quoted = NULL,
         *text = NULL;
    int n = -1;

    if (start && is_list && request->at > read->program) {
        /* Only a command can follow what starts it. */
        quoted = command_inside_quote(script);
        n = quoted ? asprintf(&text, "%ssh -c %s", start, quoted) : -1;
    }
    else if (start && is_list &&
             start[strspn(start + read->begin, " \t") + read->begin])
        n = asprintf(&text, "%.*sexport %s&& %s", (int)read->begin, line,
                     start + read->begin, script);
    else if (start)
        n = asprintf(&text, "%s%s", start, script);
    free(quoted);
    free(start);
    return n < 0 ? NULL : text;
}

/* `cd DIR && LINE` runs there. @return LINE; NULL: that is not how it begins */
static const char *enter(const char *line, char dir[PATH_MAX])
{
    shell_line_t read;
    char word[WORD], first[WORD];
    const char *rest = strstr(line, "&&");
    char *begin;
    int is;

    if (!rest)
        return NULL;
    begin = strndup(line, (size_t)(rest - line));
    is = begin && shell_line_read(begin, &read) && !read.is_list &&
         read.n_words == 2 && read.begin == read.program &&
         shell_line_word(begin, &read.words[0], first, sizeof first) &&
         strcmp(first, "cd") == 0 &&
         shell_line_word(begin, &read.words[1], word, sizeof word) &&
         word[strspn(word, DETECT_PLAIN "/@")] == 0 && *word != '/' &&
         strlen(dir) + strlen(word) + 2 < PATH_MAX;
    free(begin);
    if (!is)
        return NULL;
    snprintf(dir + strlen(dir), PATH_MAX - strlen(dir), "/%s", word);
    return rest + 2;
}

static char *resolve(const char *line, const char *dir, int depth,
                     detect_package_t *of)
{
    char in[PATH_MAX], *script, *text;
    const char *rest = line, *next;
    shell_line_t read;
    request_t request = {.more = ""};

    if (depth == DEEP)
        return NULL;
    snprintf(in, sizeof in, "%s", dir);
    while ((next = enter(rest, in)) != NULL)
        rest = next;
    if (!shell_line_read(rest, &read) || !parse(rest, &read, in, &request))
        return NULL;
    script = script_line(&request, in, depth, 1, of);
    text = script ? put_in(rest, &read, &request, script) : NULL;
    free(script);
    if (text && rest != line) {
        script = text;
        if (asprintf(&text, "%.*s%s", (int)(rest - line), line, script) < 0)
            text = NULL;
        free(script);
    }
    return text;
}

char *package_script_of(const char *line, detect_package_t *of)
{
    return resolve(line, ".", 0, of);
}

char *package_script_start(detect_package_t *of)
{
    request_t request = {.dir = ".", .script = "start", .more = ""};
    json_t *o = read_package(".");
    int has = *member(json_object_get(o, "scripts"), "start") != 0;

    json_decref(o);
    memset(of, 0, sizeof *of);
    return has ? script_line(&request, ".", 0, 0, of) : NULL;
}
