/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "detect/detect_languages.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "detect/detect_table.h"
#include "detect/program_of.h"

/* Programs that never serve a request. */
static const char makers[] =
    " webpack gulp grunt rollup sass node-sass postcss tailwindcss tsc esbuild "
    "babel eslint prettier encore mix cleancss browserify jest vitest mocha ";
/* Programs that serve a project while somebody writes it. */
static const char developers[] =
    " webpack webpack-dev-server vite react-scripts vue-cli-service ng parcel "
    "snowpack live-server browser-sync svelte-kit wp-scripts concurrently "
    "npm-run-all run-p ";
/* Programs that also build what runs without them. */
static const char builders[] =
    " next nuxt nuxi nest astro svelte-kit vite ng nitro vinxi ";
/* Builders serve the project with these words while somebody writes it, or show
 * what was built. Some do that in a child process, which has no socket. */
#define SHOWS                                                                  \
    "^(vite *($|-)|(ng +(serve|s|dev)|(nuxt|nuxi) +start|"                     \
    "(next|nuxt|nuxi|astro|svelte-kit|vite|nitro|vinxi) +(dev|preview))( |$))"

static const char server_words[] =
    "\\.listen *\\(|createServer *\\(|require *\\(|^export +default +|"
    "module\\.exports|from *[\"'](node:)?https?[\"']|^import +[^(]*from *[\"']";
static const char browser_words[] =
    "(^|[^A-Za-z0-9_.])(document|window|localStorage|navigator)\\.[A-Za-z]|"
    "(^|[^A-Za-z0-9_])(jQuery|\\$) *[.(]|angular\\.module|new +Vue *\\(|"
    "addEventListener";

static json_t *package(int dir)
{
    char *text = detect_text_read(dir, "package.json");
    json_t *o = text ? json_loads(text, 0, NULL) : NULL;

    free(text);
    return o;
}

/* The start script, and the program of its last command: what comes before it
 * ends before the server starts. */
typedef struct {
    char text[DETECT_MAX];
    char program[PROGRAM_OF_MAX]; /* "": not known */
    size_t at;                    /* of the program in the text; 0: not known */
} script_t;

/* @return 0: there is none */
static int start_of(int dir, script_t *script)
{
    json_t *o = package(dir);
    const char *start = json_string_value(
        json_object_get(json_object_get(o, "scripts"), "start"));
    program_of_t program;
    shell_line_t read;

    memset(script, 0, sizeof *script);
    snprintf(script->text, DETECT_MAX, "%s",
             start ? start + strspn(start, " ") : "");
    json_decref(o);
    shell_line_read(script->text, &read);
    script->at = program_of(script->text, &read, &program)
                     ? read.words[program.word].at
                     : 0;
    memcpy(script->program, program.name, sizeof program.name);
    return *script->text != 0;
}

static int is(const script_t *script, const char *programs)
{
    return shell_line_is_among(script->program, programs);
}

/* Is the program of a script installed beside the app? */
static int is_installed(int dir, const script_t *script)
{
    char path[DETECT_PATH_MAX];

    snprintf(path, sizeof path, "node_modules/.bin/%s", script->program);
    return *script->program && detect_text_exists(dir, path);
}

/* The index.php of a PHP site. @return 0: there is none */
static int find_php(int dir, char file[DETECT_PATH_MAX])
{
    size_t i;

    for (i = 0; detect_php_dirs[i]; i++) {
        snprintf(file, DETECT_PATH_MAX, "%s%sindex.php", detect_php_dirs[i],
                 *detect_php_dirs[i] ? "/" : "");
        if (detect_text_exists(dir, file))
            return 1;
    }
    return 0;
}

int detect_node_starts(int dir, const char *file, char why[DETECT_WHY])
{
    char php[DETECT_PATH_MAX];
    script_t script;

    (void)file;
    if (!start_of(dir, &script))
        return 0;
    if (is(&script, makers) &&
        !detect_text_matches(script.text, "webpack +serve")) {
        snprintf(why, DETECT_WHY,
                 "its start script (%.40s) makes files, and serves nothing",
                 script.text);
        return 0;
    }
    if (!is(&script, developers))
        return 1;
    if (!is_installed(dir, &script))
        snprintf(why, DETECT_WHY,
                 "the program of its start script (%.40s) is not installed in "
                 "node_modules",
                 script.text);
    else if (find_php(dir, php))
        snprintf(why, DETECT_WHY,
                 "its start script (%.40s) is for development, and %.40s is "
                 "there",
                 script.text, php);
    else
        return 1;
    return 0;
}

int detect_node_has_start(int dir, const char *file, char why[DETECT_WHY])
{
    script_t script;

    (void)file;
    (void)why;
    return start_of(dir, &script);
}

int detect_node_is_built(int dir, const char *file, char why[DETECT_WHY])
{
    script_t script;

    (void)file;
    if (!start_of(dir, &script))
        return 1;
    snprintf(why, DETECT_WHY, "package.json has a start script (%.60s)",
             script.text);
    return detect_text_matches(script.text + script.at, SHOWS) ||
           (is(&script, builders) && !is_installed(dir, &script));
}

int detect_node_is_nest(int dir, const char *file, char why[DETECT_WHY])
{
    script_t script;

    return detect_text_has(dir, file, "NestFactory|@nestjs") &&
           ((start_of(dir, &script) && is(&script, " nest ")) ||
            detect_node_is_built(dir, file, why));
}

int detect_node_is_standalone(int dir, const char *file, char why[DETECT_WHY])
{
    script_t script;

    (void)file;
    if (!start_of(dir, &script) || !is_installed(dir, &script))
        return 1;
    snprintf(why, DETECT_WHY,
             "it has no .next/static, so package.json's %.40s is complete",
             script.text);
    return detect_text_exists(dir, ".next/standalone/.next/static") ||
           detect_text_list(dir, ".next/standalone/.next/static/*/*", NULL, 0) >
               0;
}

int detect_node_no_browser(int dir, const char *file, char why[DETECT_WHY])
{
    char *text = detect_text_read(dir, file);
    int is_browsers = text && detect_text_matches(text, browser_words) &&
                      !detect_text_matches(text, server_words);

    if (is_browsers)
        snprintf(why, DETECT_WHY, "is a script for a browser");
    free(text);
    return !is_browsers;
}

/* "main" of package.json. @return 0: there is no such file */
static int find_main(int dir, char main[DETECT_PATH_MAX])
{
    json_t *o = package(dir);
    const char *name = json_string_value(json_object_get(o, "main"));
    const char *forms[] = {"%s", "%s.js", "%s/index.js"};
    int found = 0;
    size_t i;

    if (name && strncmp(name, "./", 2) == 0)
        name += 2;
    for (i = 0; i < 3 && name && *name && !found; i++) {
        snprintf(main, DETECT_PATH_MAX, forms[i], name);
        found = detect_text_exists(dir, main) &&
                main[strspn(main, DETECT_PLAIN "/")] == 0;
    }
    json_decref(o);
    return found;
}

int detect_node_has_main(int dir, const char *file, char why[DETECT_WHY])
{
    char main[DETECT_PATH_MAX];

    (void)file;
    (void)why;
    return find_main(dir, main);
}

int detect_node_has_tsx(int dir, const char *file, char why[DETECT_WHY])
{
    (void)file;
    if (detect_text_exists(dir, "node_modules/tsx/package.json"))
        return 1;
    snprintf(why, DETECT_WHY,
             "is TypeScript: build it to dist/, or install tsx (npm install "
             "tsx)");
    return 0;
}

int detect_node_read_main(detect_found_t *found)
{
    char main[DETECT_PATH_MAX];

    if (!find_main(AT_FDCWD, main))
        return 0;
    snprintf(found->why, DETECT_MAX, "package.json names its main file, %s",
             main);
    snprintf(found->command, DETECT_MAX, "node %s", main);
    return 1;
}

int detect_node_read_file(detect_found_t *found)
{
    snprintf(found->command, DETECT_MAX, "node %s", found->file);
    return found->file[strspn(found->file, DETECT_PLAIN "/")] == 0;
}
