/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "detect/detect_languages.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "detect/detect_text.h"
#include "detect/python_line.h"

#define ANY 0 /* number of requests at once */

/* THE TABLE of calls that serve, with the threads that they have. */
static const struct {
    const char *module, *call, *framework;
    uint32_t suitable;
} servers[] = {
    {"aiohttp", "run_app *\\(", "aiohttp", ANY},
    {"tornado", "\\.(listen|bind|add_sockets) *\\(", "Tornado", ANY},
    {"cherrypy", "(quickstart|engine\\.(start|block)) *\\(", "CherryPy", 10},
    {"waitress", "serve *\\(", "waitress", 4},
    {"wsgiref", "serve_forever *\\(", "wsgiref", 1},
    {"http.server", "serve_forever *\\(", "http.server", 1},
};
#define SERVERS (sizeof servers / sizeof *servers)

/* @return SERVERS: none */
static size_t server_in(const char *text)
{
    size_t i = 0;

    while (i < SERVERS && !(python_line_imports(text, servers[i].module) &&
                            detect_text_matches(text, servers[i].call)))
        i++;
    return i;
}

/* What the text shows of a framework that nothing else can run. */
static void say_why_not(const char *text, char why[DETECT_WHY])
{
    size_t i;

    for (i = 0; i < SERVERS; i++)
        if (servers[i].suitable == ANY &&
            python_line_imports(text, servers[i].module))
            snprintf(why, DETECT_WHY,
                     "imports %s, but does not show how it listens: AppCommand "
                     "names the command that does",
                     servers[i].framework);
}

int detect_script_serves(int dir, const char *file, char why[DETECT_WHY])
{
    char *text = detect_text_read(dir, file);
    int serves = text && server_in(text) < SERVERS;

    if (text && !serves)
        say_why_not(text, why);
    /* It sets options of TCP by itself, which this socket does not have. */
    if (serves && python_line_imports(text, "uvloop")) {
        serves = 0;
        snprintf(why, DETECT_WHY,
                 "imports uvloop, which does not take the socket: set "
                 "AppListen tcp, and an AppCommand that listens on "
                 "127.0.0.1:$PORT");
    }
    free(text);
    return serves;
}

int detect_script_read(detect_found_t *found)
{
    char *text = detect_text_read(AT_FDCWD, found->file);
    size_t i = text ? server_in(text) : SERVERS;

    free(text);
    if (i == SERVERS || !detect_file_plain(found))
        return 0;
    found->suitable = servers[i].suitable;
    snprintf(found->why, DETECT_MAX, "%s listens by itself (%s)", found->file,
             servers[i].framework);
    return 1;
}
