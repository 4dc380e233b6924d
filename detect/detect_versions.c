/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "detect/detect_versions.h"

#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "detect/detect_found.h"
#include "detect/detect_text.h"

#define WORD 64

/* Where a version of a language may be: HOME DIR [LANGUAGE/] VERSION /bin. */
typedef struct {
    const char
        *language; /* NULL: any, and its name stands before the version */
    int is_home;   /* DIR is in the home directory */
    const char *dir;
} place_t;

/* What is asked for. */
typedef struct {
    const char *home;
    detect_versions_t *each;
    void *ctx;
} asker_t;

static const place_t places[] = {
    {NULL, 1, "/.local/share/mise/installs/"},
    {NULL, 1, "/.asdf/installs/"},
    {"ruby", 1, "/.rubies/ruby-"},
    {"ruby", 0, "/opt/rubies/ruby-"},
    {"python", 1, "/.pyenv/versions/"},
};

/* asdf and mise differ in the name of node. */
static const char *const names[][2] = {{"node", "nodejs"}, {"nodejs", "node"}};

/* The newest of several: 3.11.10 comes behind 3.11.9. */
static const char *newest(const glob_t *dirs)
{
    const char *best = dirs->gl_pathv[0];
    size_t i;

    for (i = 1; i < dirs->gl_pathc; i++)
        if (strverscmp(dirs->gl_pathv[i], best) > 0)
            best = dirs->gl_pathv[i];
    return best;
}

/* `3.11` stands for the newest 3.11.x. */
static int put_place(const asker_t *asker, const place_t *place,
                     const char *language, const char *version)
{
    static const char *const endings[] = {"", ".*"};
    char dir[PATH_MAX];
    glob_t dirs;
    size_t i;

    for (i = 0; i < 2; i++) {
        if (snprintf(dir, sizeof dir, "%s%s%s%s%s%s/bin",
                     place->is_home ? asker->home : "", place->dir,
                     place->language ? "" : language,
                     place->language ? "" : "/", version,
                     endings[i]) >= (int)sizeof dir ||
            strpbrk(asker->home, "*?[\\") || glob(dir, 0, NULL, &dirs) != 0)
            continue;
        asker->each(asker->ctx, newest(&dirs));
        globfree(&dirs);
        return 1;
    }
    return 0;
}

static int put_version(const asker_t *asker, const char *language,
                       const char *version)
{
    size_t i;

    if (!*version || version[strspn(version, DETECT_PLAIN)] ||
        language[strspn(language, DETECT_PLAIN)])
        return 0;
    for (i = 0; i < sizeof places / sizeof *places; i++)
        if ((!places[i].language ||
             strcmp(places[i].language, language) == 0) &&
            put_place(asker, &places[i], language, version))
            return 1;
    return 0;
}

static void put_language(const asker_t *asker, const char *language,
                         const char *version)
{
    size_t i;

    if (put_version(asker, language, version))
        return;
    for (i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i][0], language) == 0)
            put_version(asker, names[i][1], version);
}

/* `ruby 3.2.2`, one a line; in mise.toml `ruby = "3.2.2"` below [tools]. */
static void read_list(const asker_t *asker, const char *file, int is_toml)
{
    char *text = detect_text_read(AT_FDCWD, file), *line, *rest = NULL;
    char language[WORD], version[WORD];
    int is_tools = !is_toml;

    for (line = text ? strtok_r(text, "\r\n", &rest) : NULL; line;
         line = strtok_r(NULL, "\r\n", &rest)) {
        line += strspn(line, " \t");
        if (is_toml && *line == '[')
            is_tools = strncmp(line, "[tools]", 7) == 0;
        else if (is_tools && sscanf(line,
                                    is_toml ? "%63[a-z0-9_-] = \"%63[^\"]\""
                                            : "%63[a-z0-9_-] %63s",
                                    language, version) == 2)
            put_language(asker, language, version);
    }
    free(text);
}

static void read_one(const asker_t *asker, const char *file,
                     const char *language)
{
    char *text = detect_text_read(AT_FDCWD, file), word[WORD] = "";
    size_t n = strlen(language);
    const char *version = word;

    if (text)
        sscanf(text, "%63s", word);
    free(text);
    if (strncmp(word, language, n) == 0 && word[n] == '-')
        version += n + 1;
    put_language(asker, language, version);
}

void detect_versions(const char *home, detect_versions_t *each, void *ctx)
{
    const asker_t asker = {home, each, ctx};

    if (*home != '/')
        return;
    read_list(&asker, "mise.toml", 1);
    read_list(&asker, ".mise.toml", 1);
    read_list(&asker, ".tool-versions", 0);
    read_one(&asker, ".ruby-version", "ruby");
    read_one(&asker, ".python-version", "python");
}
