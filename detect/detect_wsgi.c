/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "detect/detect_languages.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "detect/detect_python.h"
#include "detect/detect_server.h"

int detect_wsgi_has(int dir, const char *file, char why[DETECT_WHY])
{
    char module[DETECT_PATH_MAX];
    detect_python_t app;

    if (!detect_python_module(file, module))
        return 0;
    if (detect_python_find(dir, file, &app))
        return 1;
    if (app.imported && app.kind_of_import == DETECT_PYTHON_NEITHER)
        detect_script_serves(dir, file, why);
    else if (app.imported)
        snprintf(why, DETECT_WHY,
                 "imports %s, but binds no app or application at the beginning "
                 "of a line: AppCommand \"%s %.40s:NAME\" would name another",
                 app.imported,
                 app.kind_of_import == DETECT_PYTHON_ASGI ? "uvicorn --fd 3"
                                                          : "gunicorn",
                 module);
    return 0;
}

int detect_wsgi_binds(int dir, const char *file, char why[DETECT_WHY])
{
    detect_python_t app;

    return detect_wsgi_has(dir, file, why) &&
           detect_python_find(dir, file, &app) && !app.is_imported;
}

static void say_what(detect_found_t *found, const detect_python_t *app)
{
    if (app->is_default) {
        snprintf(found->why, DETECT_MAX,
                 "%s runs the default application of %s", found->file,
                 app->framework);
        return;
    }
    snprintf(found->why, DETECT_MAX, "%s has %s application%s%s%s%s%s",
             found->file,
             app->kind == DETECT_PYTHON_ASGI ? "an ASGI" : "a WSGI",
             app->is_factory ? " that is made by " : ", ", app->name,
             app->framework ? " (" : "", app->framework ? app->framework : "",
             app->framework ? ")" : "");
}

/* Is there a module or package of this name? @param dir ends with a slash, or
 * is "" for AppRoot */
static int has_module(const char *dir, const char *name, int n)
{
    static const char *const forms[] = {"%s%.*s.py", "%s%.*s/__init__.py"};
    char path[2 * DETECT_PATH_MAX];
    size_t i;
    int found = 0;

    for (i = 0; i < 2 && !found; i++) {
        snprintf(path, sizeof path, forms[i], dir, n, name);
        found = n > 0 && detect_text_exists(AT_FDCWD, path);
    }
    return found;
}

/* Does a file import one that lies beside it, by its name alone? */
static int imports_neighbour(const char *file, const char *dir)
{
    char *text = detect_text_read(AT_FDCWD, file), *line, *rest = NULL;
    int found = 0;

    for (line = text ? strtok_r(text, "\r\n", &rest) : NULL; line && !found;
         line = strtok_r(NULL, "\r\n", &rest)) {
        size_t skipped = strncmp(line, "from ", 5) == 0     ? 5
                         : strncmp(line, "import ", 7) == 0 ? 7
                                                            : 0;
        const char *name = line + skipped + strspn(line + skipped, " ");
        int n = skipped ? (int)strcspn(name, " .,;\t") : 0;

        found = has_module(dir, name, n) && !has_module("", name, n);
    }
    free(text);
    return found;
}

/* What was started in its directory finds the files beside it, and here it is
 * started in AppRoot. A package in src/ has its name without `src`.
 * @return the name of the module */
static const char *know_path(detect_found_t *found, const char *module)
{
    char dir[DETECT_PATH_MAX];
    int n = (int)strcspn(found->file, "/");
    int is_in_src = strncmp(found->file, "src/", 4) == 0 &&
                    strchr(found->file + 4, '/') &&
                    !detect_text_exists(AT_FDCWD, "src/__init__.py");

    snprintf(dir, sizeof dir, "%.*s/", n, found->file);
    if (n < 100 && found->file[n] &&
        (is_in_src || imports_neighbour(found->file, dir)))
        snprintf(found->before, sizeof found->before,
                 "PYTHONPATH=\"%.*s:$PYTHONPATH\" ", n, found->file);
    return is_in_src ? module + 4 : module;
}

/* The kind decides about the server, and about how a function is called. */
static int name_it(detect_found_t *found, const char *module,
                   const detect_python_t *app)
{
    int is_asgi = app->kind == DETECT_PYTHON_ASGI;
    const char *form = app->is_default    ? "%s%s"
                       : !app->is_factory ? "%s:%s"
                       : is_asgi          ? "--factory %s:%s"
                                          : "'%s:%s()'";

    if (is_asgi) {
        found->server = &detect_server_uvicorn;
        found->suitable = 0; /* any number */
    }
    module = know_path(found, module);
    return snprintf(found->command, DETECT_MAX, form, module, app->name) <
           DETECT_MAX;
}

int detect_wsgi_read(detect_found_t *found)
{
    char module[DETECT_PATH_MAX];
    detect_python_t app;

    if (!detect_python_module(found->file, module) ||
        !detect_python_find(AT_FDCWD, found->file, &app))
        return 0;
    say_what(found, &app);
    return name_it(found, module, &app);
}

static int named(detect_found_t *found, const char *otherwise)
{
    char module[DETECT_PATH_MAX];
    detect_python_t app;

    if (!detect_python_module(found->file, module))
        return 0;
    if (detect_python_find(AT_FDCWD, found->file, &app) &&
        strcmp(app.name, "application") != 0) {
        say_what(found, &app);
        return name_it(found, module, &app);
    }
    if (*app.name && app.kind == DETECT_PYTHON_ASGI)
        return name_it(found, module, &app);
    return snprintf(found->command, DETECT_MAX, "%s%s", module, otherwise) <
           DETECT_MAX;
}

int detect_wsgi_named(detect_found_t *found)
{
    return named(found, "");
}

int detect_wsgi_named_asgi(detect_found_t *found)
{
    int found_it = named(found, ":application");

    found->server = NULL; /* its name says that it is ASGI */
    return found_it;
}

int detect_wsgi_file(detect_found_t *found)
{
    snprintf(found->why, DETECT_MAX, "%s binds application", found->file);
    snprintf(found->command, DETECT_MAX, "./%s", found->file);
    return found->file[strspn(found->file, DETECT_PLAIN)] == 0;
}

/* ---- Django ---- */

/* The directory of SITE/asgi.py, as long as it is a name. */
static int site_of(const char *file, char site[DETECT_PATH_MAX])
{
    size_t n = strspn(file, DETECT_PLAIN);

    snprintf(site, DETECT_PATH_MAX, "%.*s", (int)n, file);
    return file[n] == '/';
}

static int has_uvicorn(int dir)
{
    static const char *const places[] = {
        "venv/bin/uvicorn", ".venv/bin/uvicorn", "env/bin/uvicorn",
        "/usr/local/bin/uvicorn", "/usr/bin/uvicorn"};
    size_t i;

    for (i = 0; i < sizeof places / sizeof *places; i++)
        if (detect_text_exists(dir, places[i]))
            return 1;
    return 0;
}

int detect_wsgi_is_django_asgi(int dir, const char *file, char why[DETECT_WHY])
{
    static const char *const places[] = {"settings.py", "settings/__init__.py",
                                         "settings/base.py",
                                         "settings/production.py"};
    char site[DETECT_PATH_MAX], path[2 * DETECT_PATH_MAX];
    size_t i;
    int names = 0;

    if (!site_of(file, site))
        return 0;
    for (i = 0; i < sizeof places / sizeof *places && !names; i++) {
        snprintf(path, sizeof path, "%s/%s", site, places[i]);
        names = detect_text_has(dir, path, "^ASGI_APPLICATION *=");
    }
    if (!names)
        snprintf(why, DETECT_WHY, "settings name no ASGI_APPLICATION");
    else if (!has_uvicorn(dir))
        snprintf(why, DETECT_WHY, "there is no uvicorn");
    return names && has_uvicorn(dir);
}

int detect_wsgi_django_asgi(detect_found_t *found)
{
    char site[DETECT_PATH_MAX];

    snprintf(found->why, DETECT_MAX,
             "manage.py and %s are there, and the settings name "
             "ASGI_APPLICATION",
             found->file);
    return site_of(found->file, site) &&
           snprintf(found->command, DETECT_MAX, "%s.asgi:application", site) <
               DETECT_MAX;
}
