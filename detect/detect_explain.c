/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "detect/detect_explain.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "detect/detect_rule.h"

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
    if (one == found->candidates + DETECT_CANDIDATES) {
        if (!won)
            return;
        one--; /* one that has lost makes room */
    }
    else
        found->n_candidates += one == end;
    snprintf(one->file, sizeof one->file, "%s", file);
    snprintf(one->why, sizeof one->why, "%s", why);
    one->won = won;
}

/* Why does a file not decide, of which the rule is, or is not, true?
 * @param winner a file of an earlier rule; "": none has won yet */
static void list_loser(const detect_rule_t *rule, detect_found_t *found,
                       const char *winner, const detect_config_t *config)
{
    char(*files)[DETECT_PATH_MAX] = malloc(DETECT_RULE_FILES * sizeof *files);
    char clause[DETECT_WHY], why[sizeof found->candidates->why];
    size_t i, n = files ? detect_text_list(AT_FDCWD, rule->file, files,
                                           DETECT_RULE_FILES)
                        : 0;

    for (i = 0; i < n && i < DETECT_RULE_FILES; i++) {
        int is_true = detect_rule_holds(rule, AT_FDCWD, files[i], clause);

        if (!is_true && !rule->lacks && !*clause)
            continue;
        if (rule->read)
            detect_text_is_closed(AT_FDCWD, files[i], clause);
        snprintf(why, sizeof why, "%s",
                 *clause    ? clause
                 : !is_true ? rule->lacks
                 : !detect_rule_fits(rule, config)
                     ? "is for another AppProtocol"
                 : rule->is_single && n > 1 ? "is not the only file of its kind"
                 : *winner                  ? ""
                 : rule->lacks              ? rule->lacks
                                            : "gives no command");
        if (!*why)
            snprintf(why, sizeof why, "%.60s comes first", winner);
        list(found, files[i], 0, why);
    }
    free(files);
}

/* Why it won, behind the name of its file. */
static const char *without_name(const detect_found_t *found)
{
    size_t n = strlen(found->file);

    return strncmp(found->why, found->file, n) == 0 && found->why[n] == ' '
               ? found->why + n + 1
               : found->why;
}

void detect_explain_all(detect_found_t *found, const detect_config_t *config,
                        const detect_rule_t *winner)
{
    const detect_rule_t *rule;
    const char *first = "";

    for (rule = detect_rules; rule->file; rule++)
        if (rule == winner) {
            first = found->file;
            list(found, first, 1, without_name(found));
        }
        else
            list_loser(rule, found, first, config);
}

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

/* No file gives a command. What would settle it: another AppRoot, none at all,
 * or a certain AppCommand? */
static void add_advice(detect_found_t *found)
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

/* ---- there is no command ---- */

/* The first file of a rule, and why it gives no command. "": there is none */
static void useless(const detect_rule_t *rule, char file[DETECT_PATH_MAX],
                    char why[DETECT_WHY])
{
    char(*files)[DETECT_PATH_MAX] = malloc(DETECT_RULE_FILES * sizeof *files);
    size_t n = 0;

    *why = *file = 0;
    if (files &&
        detect_text_list(AT_FDCWD, rule->file, files, DETECT_RULE_FILES) > 0) {
        snprintf(file, DETECT_PATH_MAX, "%s", files[0]);
        detect_rule_files(rule, AT_FDCWD, files, &n, why);
        if (rule->read)
            detect_text_is_closed(AT_FDCWD, file, why);
        if (!*why && rule->lacks)
            snprintf(why, DETECT_WHY, "%s", rule->lacks);
        if (rule->is_single && n > 1)
            snprintf(
                why, DETECT_WHY,
                "and %.60s both have an application: AppCommand has to name "
                "one",
                files[1]);
        else if (strchr(rule->file, '*') && detect_rule_is_aside(file))
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
        if (!detect_rule_fits(rule, config))
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

void detect_explain_none(detect_found_t *found, const detect_config_t *config,
                         const char *other)
{
    const char *between = "none of these files exists: ";
    const detect_rule_t *rule;
    size_t n = explain_useless(found, config);

    for (rule = detect_rules; rule->file; rule++)
        if (detect_rule_fits(rule, config) && rule->is_usual &&
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
        add_advice(found);
    found->command[0] = found->file[0] = 0;
}
