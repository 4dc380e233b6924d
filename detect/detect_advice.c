/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "detect/detect_advice.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "detect/detect_rule.h"

/* ---- programs that take no socket, or that have to be built first ---- */

#define OF_SPRING " --server.address=127.0.0.1 --server.port=$PORT"
#define OF_STREAMLIT                                                           \
    " --server.headless true --server.address 127.0.0.1 --server.port $PORT"

/* THE TABLE. An AppCommand is `before`, the file or NAME, and `after`. */
static const struct {
    const char *file;    /* a pattern (detect_text_list()) */
    const char *content; /* a line of it; NULL: any */
    const char *build;   /* what makes the program; NULL: it is there */
    const char *before;
    int is_named; /* the command names this file, and no other one */
    const char *after;
} programs[] = {
    {"*.jar", NULL, NULL, "java -jar ", 1, OF_SPRING},
    {"target/*.jar", NULL, NULL, "java -jar ", 1, OF_SPRING},
    {"build/libs/*.jar", NULL, NULL, "java -jar ", 1, OF_SPRING},
    {"pom.xml", NULL, "mvn package", "java -jar target/", 0, ".jar" OF_SPRING},
    {"build.gradle*", NULL, "gradle build", "java -jar build/libs/", 0,
     ".jar" OF_SPRING},
    {"*.runtimeconfig.json", NULL, NULL, "dotnet ", 0,
     ".dll --urls http://127.0.0.1:$PORT"},
    {"*.csproj", NULL, "dotnet publish -o out", "dotnet out/", 0,
     ".dll --urls http://127.0.0.1:$PORT"},
    {"releases/COOKIE", NULL, NULL, "PHX_SERVER=true bin/", 0, " start"},
    {"mix.exs", NULL, "MIX_ENV=prod mix release",
     "PHX_SERVER=true _build/prod/rel/NAME/bin/", 0, " start"},
    {"go.mod", NULL, "go build", "./", 0, ""},
    {"Cargo.toml", NULL, "cargo build --release", "target/release/", 0, ""},
    {"shard.yml", NULL, "shards build --release", "bin/", 0, " --port $PORT"},
    {"Package.swift", NULL, "swift build -c release", ".build/release/", 0,
     " serve --hostname 127.0.0.1 --port $PORT"},
    {"deno.json*", NULL, NULL, "deno run -A ", 0, ".ts"},
    {"*.ts*", "Bun\\.serve", NULL, "bun ", 1, ""},
    {"*/*.ts*", "Bun\\.serve", NULL, "bun ", 1, ""},
    {"*.py", "^(import|from) +streamlit", NULL, "streamlit run ", 1,
     OF_STREAMLIT},
};

/* The first of a pattern that has such a line; without a line, the last one:
 * shop-plain.jar and shop-sources.jar come before shop.jar.
 * @return 0: there is none */
static int find(const char *pattern, const char *content,
                char file[DETECT_PATH_MAX])
{
    char(*files)[DETECT_PATH_MAX] = malloc(DETECT_RULE_FILES * sizeof *files);
    size_t i, n = 0;

    if (files)
        n = detect_text_list(AT_FDCWD, pattern, files, DETECT_RULE_FILES);
    if (n > DETECT_RULE_FILES)
        n = DETECT_RULE_FILES;
    i = content || n == 0 ? 0 : n - 1;
    while (i < n && content && !detect_text_has(AT_FDCWD, files[i], content))
        i++;
    if (i < n)
        snprintf(file, DETECT_PATH_MAX, "%s", files[i]);
    free(files);
    return i < n;
}

static int add_program(detect_found_t *found)
{
    char file[DETECT_PATH_MAX];
    size_t i, n = strlen(found->why);

    for (i = 0; i < sizeof programs / sizeof *programs; i++)
        if (find(programs[i].file, programs[i].content, file)) {
            snprintf(found->why + n, DETECT_MAX - n,
                     "; %s is there: %s%sset AppListen tcp, and AppCommand "
                     "\"%s%s%s\"%s",
                     file, programs[i].build ? programs[i].build : "",
                     programs[i].build ? ", then " : "", programs[i].before,
                     programs[i].is_named ? file : "NAME", programs[i].after,
                     strstr(programs[i].after, "$PORT")
                         ? ""
                         : ", which has to listen on 127.0.0.1:$PORT");
            return 1;
        }
    return 0;
}

/* ---- files of a site, and another directory ---- */

/* A front-end that is built: httpd serves its files without an application. */
static const char *built_site(void)
{
    static const char *const places[] = {
        "dist/index.html",         "build/index.html", "out/index.html",
        "dist/browser/index.html", "_site/index.html", "public/index.html"};
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
        "*/Procfile",  "*/config.ru",   "*/manage.py",        "*/package.json",
        "*/server.js", "*/index.php",   "*/public/index.php", "*/web/index.php",
        "*/app.psgi",  "*/app/main.py", "*/requirements.txt"};
    char(*files)[DETECT_PATH_MAX] = malloc(DETECT_RULE_FILES * sizeof *files);
    size_t i, n = 0;

    for (i = 0; files && i < sizeof patterns / sizeof *patterns && n == 0; i++)
        n = detect_text_list(AT_FDCWD, patterns[i], files, DETECT_RULE_FILES) >
                0 &&
            !detect_rule_is_aside(files[0]);
    if (n > 0)
        snprintf(file, DETECT_PATH_MAX, "%s", files[0]);
    free(files);
    return n > 0;
}

void detect_advice_add(detect_found_t *found)
{
    char file[DETECT_PATH_MAX];
    const char *site = built_site();
    size_t n = strlen(found->why);

    if (add_program(found))
        return;
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
