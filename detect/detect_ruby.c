/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "detect/detect_languages.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "detect/detect_server.h"

/* Servers that Gemfile.lock may name in place of puma. */
static const struct {
    const char *line;
    const detect_server_t *server;
} locked[] = {{"^ +(unicorn) \\(", &detect_server_unicorn},
              {"^ +(thin) \\(", &detect_server_thin},
              {"^ +(falcon) \\(", &detect_server_falcon}};

/* Does Bundler keep all other gems away from config.ru? */
static int is_bundled(int dir)
{
    return detect_text_exists(dir, "Gemfile") &&
           !detect_text_has(dir, "Gemfile", "puma") &&
           !detect_text_has(dir, "Gemfile.lock", "^ +puma \\(") &&
           detect_text_has(dir, "config.ru",
                           "^ *(require +[\"']bundler/setup[\"']|"
                           "Bundler\\.(require|setup))");
}

/* @param name filled in. @return NULL: none of those that are known */
static const detect_server_t *locked_server(int dir, char name[DETECT_PATH_MAX])
{
    char *lock = detect_text_read(dir, "Gemfile.lock");
    const detect_server_t *server = NULL;
    size_t i;

    for (i = 0; i < sizeof locked / sizeof *locked && lock && !server; i++)
        if (detect_text_find(lock, locked[i].line, name))
            server = locked[i].server;
    free(lock);
    return server;
}

int detect_ruby_has_server(int dir, const char *file, char why[DETECT_WHY])
{
    char name[DETECT_PATH_MAX];

    (void)file;
    if (!is_bundled(dir) || locked_server(dir, name))
        return 1;
    snprintf(why, DETECT_WHY,
             "requires Bundler, and the Gemfile names no server: bundle add "
             "puma");
    return 0;
}

int detect_ruby_rackup(detect_found_t *found)
{
    char name[DETECT_PATH_MAX];

    if (!is_bundled(AT_FDCWD))
        return 1;
    found->server = locked_server(AT_FDCWD, name);
    if (found->server)
        snprintf(found->why, DETECT_MAX,
                 "config.ru is there, and Gemfile.lock names %s", name);
    return found->server != NULL;
}

int detect_ruby_app(detect_found_t *found)
{
    char *text = detect_text_read(AT_FDCWD, found->file);
    char name[DETECT_PATH_MAX] = "";
    int is_class =
        text && detect_text_find(text,
                                 "^ *class +([A-Z][A-Za-z0-9_:]*) *< *(::)?"
                                 "(Sinatra::(Base|Application)|Roda)",
                                 name) != NULL;

    free(text);
    if (!text || found->file[strspn(found->file, DETECT_PLAIN)])
        return 0;
    snprintf(found->why, DETECT_MAX, "%s has an application of %s%s",
             found->file, is_class ? "Rack, " : "Sinatra", name);
    snprintf(found->before, sizeof found->before, "APPPOOL_APP=%.60s%s%.60s ",
             found->file, is_class ? ":" : "", name);
    snprintf(found->command, DETECT_MAX, " \"$APPPOOL_HELPERS/ruby/app.ru\"");
    return 1;
}
