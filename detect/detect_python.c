/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "detect/detect_python.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "detect/python_line.h"

#define DEPTH 3 /* of files that import the name from another one */
#define WSGI  DETECT_PYTHON_WSGI
#define ASGI  DETECT_PYTHON_ASGI
#define OTHER DETECT_PYTHON_NEITHER

/* THE TABLE of constructors: what they make is called like this. `App` and
 * other names of several frameworks belong to the first one that is
 * imported. */
static const struct {
    const char *module, *constructor;
    detect_python_kind_t kind;
    const char *framework;
} constructors[] = {
    {"flask", "Flask", WSGI, "Flask"},
    {"apiflask", "APIFlask", WSGI, "APIFlask"},
    {"flask_openapi3", "OpenAPI", WSGI, "Flask"},
    {"fastapi", "FastAPI", ASGI, "FastAPI"},
    {"starlette", "Starlette", ASGI, "Starlette"},
    {"quart", "Quart", ASGI, "Quart"},
    {"litestar", "Litestar", ASGI, "Litestar"},
    {"sanic", "Sanic", ASGI, "Sanic"},
    {"blacksheep", "Application", ASGI, "BlackSheep"},
    {"falcon.asgi", "App", ASGI, "Falcon"},
    {"falcon", "App", WSGI, "Falcon"},
    {"falcon", "API", WSGI, "Falcon"},
    {"bottle", "Bottle", WSGI, "Bottle"},
    {"bottle", "default_app", WSGI, "Bottle"},
    {"pyramid", "make_wsgi_app", WSGI, "Pyramid"},
    {"web", "wsgifunc", WSGI, "web.py"},
    {"dash", "Dash", OTHER, "Dash"}, /* it has a server */
    {"dash", "server", WSGI, "Dash"},
    {"aiohttp", "Application", OTHER, "aiohttp"},
    {"tornado", "Application", OTHER, "Tornado"},
    {"cherrypy", "Application", WSGI, "CherryPy"},
    {"cherrypy", "mount", WSGI, "CherryPy"},
    {"tornado", "WSGIContainer", WSGI, "Tornado"},
    {"connexion", "AsyncApp", ASGI, "Connexion"},
    {"connexion", "FlaskApp", WSGI, "Connexion"},
    {"socketio", "ASGIApp", ASGI, "python-socketio"},
    {"channels", "ProtocolTypeRouter", ASGI, "Channels"},
    {"django", "get_wsgi_application", WSGI, "Django"},
    {"django", "get_asgi_application", ASGI, "Django"},
    {"a2wsgi", "ASGIMiddleware", WSGI, NULL},
    {"a2wsgi", "WSGIMiddleware", ASGI, NULL},
};
#define CONSTRUCTORS (sizeof constructors / sizeof *constructors)

/* The first name that a file binds is taken. Of the first two it is believed
 * that they are an application, if the file imports a framework. */
#define SURE         2
static const char *const names[] = {"application", "app", "api", "server",
                                    NULL};
static const char *const factories[] = {"create_app", "make_app",
                                        "create_application", "get_app", NULL};

/* @param word as it is called: flask.Flask. @return CONSTRUCTORS: not known */
static size_t constructor_of(const char *text, const char *word)
{
    const char *last = strrchr(word, '.');
    size_t i;

    last = last ? last + 1 : word;
    for (i = 0; i < CONSTRUCTORS; i++)
        if (strcmp(last, constructors[i].constructor) == 0 &&
            python_line_imports(text, constructors[i].module))
            break;
    return i;
}

/* What the imports suggest where no constructor is seen. */
static void suppose(const char *text, detect_python_t *app)
{
    size_t i;

    for (i = 0; i < CONSTRUCTORS && !app->imported; i++)
        if (constructors[i].framework &&
            python_line_imports(text, constructors[i].module)) {
            app->imported = constructors[i].framework;
            app->kind_of_import = constructors[i].kind;
            if (app->kind == DETECT_PYTHON_UNKNOWN && *app->name) {
                app->kind = constructors[i].kind;
                app->framework = constructors[i].framework;
            }
        }
}

/* ---- a name in a file ---- */

static int look_for(int dir, const char *file, const char *name, int depth,
                    detect_python_t *app);

/* The file of a module that another file imports. */
static int file_of(int dir, const char *from, const char *module,
                   char file[DETECT_PATH_MAX])
{
    static const char *const forms[] = {"%.*s%s.py", "%.*s%s/__init__.py"};
    const char *slash = strrchr(from, '/');
    char path[DETECT_PATH_MAX], *c;
    size_t i;
    /* A dot means the directory of the importing file. */
    int before = *module == '.' && slash ? (int)(slash + 1 - from) : 0;

    snprintf(path, sizeof path, "%s", module + strspn(module, "."));
    for (c = path; *c; c++)
        if (*c == '.')
            *c = '/';
    for (i = 0; i < 2; i++)
        if (*path &&
            snprintf(file, DETECT_PATH_MAX, forms[i], before, from, path) <
                DETECT_PATH_MAX &&
            detect_text_exists(dir, file))
            return 1;
    return 0;
}

/* The kind of what another file calls like this. */
static int follow(int dir, const char *file, const char *text, const char *name,
                  int depth, detect_python_t *app)
{
    char module[DETECT_PATH_MAX], other[DETECT_PATH_MAX];
    char path[DETECT_PATH_MAX];

    if (!python_line_from(text, name, module, other))
        return 0;
    if (depth > 0 && file_of(dir, file, module, path))
        look_for(dir, path, other, depth - 1, app);
    return 1;
}

/* A function: `async def app(` is ASGI, `def app(` is WSGI. */
static detect_python_kind_t function_kind(const char *text, const char *name)
{
    python_line_function_t is = python_line_function(text, name, NULL);

    return is == PYTHON_LINE_ASYNC ? ASGI
           : is == PYTHON_LINE_DEF ? WSGI
                                   : DETECT_PYTHON_UNKNOWN;
}

/* Inside of a function the constructor is indented. */
static void look_into_factory(const char *text, detect_python_t *app)
{
    size_t i;

    for (i = 0; i < CONSTRUCTORS; i++)
        if (python_line_calls(text, constructors[i].constructor) &&
            python_line_imports(text, constructors[i].module)) {
            app->kind = constructors[i].kind;
            app->framework = constructors[i].framework;
            return;
        }
}

/* The last part of shop.app, and what a value is made of. */
static void look_at_value(int dir, const char *file, const char *text,
                          const char *value, int depth, detect_python_t *app)
{
    size_t i = constructor_of(text, value);
    size_t n = strcspn(value, ".");
    char first[DETECT_PATH_MAX];

    if (i < CONSTRUCTORS) {
        app->kind = constructors[i].kind;
        app->framework = constructors[i].framework;
        return;
    }
    snprintf(first, sizeof first, "%.*s", (int)n, value);
    if (depth <= 0 || follow(dir, file, text, value, depth, app) ||
        function_kind(text, value) != DETECT_PYTHON_UNKNOWN) {
        if (app->kind == DETECT_PYTHON_UNKNOWN)
            look_into_factory(text, app);
        return;
    }
    if (python_line_binds(text, first, first))
        look_at_value(dir, file, text, first, depth - 1, app);
}

static int look_in(int dir, const char *file, const char *text,
                   const char *name, int depth, detect_python_t *app)
{
    char value[DETECT_PATH_MAX];
    detect_python_kind_t kind;

    if (python_line_binds(text, name, value)) {
        look_at_value(dir, file, text, value, depth, app);
        return 1;
    }
    kind = function_kind(text, name);
    if (kind != DETECT_PYTHON_UNKNOWN) {
        app->kind = kind;
        look_into_factory(text, app);
        return 1;
    }
    if (depth == DEPTH)
        app->is_imported = 1;
    return follow(dir, file, text, name, depth, app);
}

static int look_for(int dir, const char *file, const char *name, int depth,
                    detect_python_t *app)
{
    char *text = detect_text_read(dir, file);
    int found = text && look_in(dir, file, text, name, depth, app);

    free(text);
    return found;
}

/* ---- a file ---- */

/* A function that takes arguments without a default cannot be called. */
static int is_factory(const char *text, const char *name)
{
    int is_callable = 0;

    python_line_function(text, name, &is_callable);
    return is_callable;
}

/* The only other name that is bound to what a constructor makes. */
static int other_name(const char *text, detect_python_t *app)
{
    char name[DETECT_PATH_MAX];
    size_t i;

    for (i = 0; i < CONSTRUCTORS; i++) {
        if (constructors[i].kind == OTHER ||
            !python_line_made_by(text, constructors[i].constructor, name) ||
            !python_line_imports(text, constructors[i].module))
            continue;
        snprintf(app->name, sizeof app->name, "%.63s", name);
        app->kind = constructors[i].kind;
        app->framework = constructors[i].framework;
        return 1;
    }
    return 0;
}

/* Bottle adds to an application of its own what a file routes without a name.
 * The file of the program also runs it, which other files do not. */
static int has_default(const char *text, detect_python_t *app)
{
    static const char runs[] = "^[[:blank:]]*(bottle\\.)?run[[:blank:]]*\\(";

    if (!python_line_imports(text, "bottle") ||
        !detect_text_matches(text, runs))
        return 0;
    app->kind = WSGI;
    app->framework = "Bottle";
    app->is_default = 1;
    return 1;
}

static int look_at(int dir, const char *file, const char *text,
                   detect_python_t *app)
{
    size_t i;

    for (i = 0; names[i]; i++) {
        app->is_imported = 0;
        if (look_in(dir, file, text, names[i], DEPTH, app)) {
            snprintf(app->name, sizeof app->name, "%s", names[i]);
            if (i < SURE)
                suppose(text, app);
            if (app->kind == WSGI || app->kind == ASGI)
                return 1;
            app->name[0] = 0;
            app->kind = DETECT_PYTHON_UNKNOWN;
        }
    }
    app->is_imported = 0;
    if (other_name(text, app))
        return 1;
    for (i = 0; factories[i]; i++) {
        app->is_factory = is_factory(text, factories[i]);
        if (!app->is_factory)
            continue;
        look_into_factory(text, app);
        snprintf(app->name, sizeof app->name, "%s", factories[i]);
        suppose(text, app);
        if (app->kind == WSGI || app->kind == ASGI)
            return 1;
        app->name[0] = 0;
    }
    app->is_factory = 0;
    return has_default(text, app);
}

int detect_python_find(int dir, const char *file, detect_python_t *app)
{
    char *text = detect_text_read(dir, file);
    int found;

    memset(app, 0, sizeof *app);
    found = text && look_at(dir, file, text, app);
    if (text && !found)
        suppose(text, app);
    free(text);
    return found;
}

int detect_python_module(const char *file, char module[DETECT_PATH_MAX])
{
    static const char package[] = "/__init__.py", suffix[] = ".py";
    size_t n = strlen(file), cut;
    char *c;

    if (n > sizeof package && !strcmp(file + n - (sizeof package - 1), package))
        cut = sizeof package - 1;
    else if (n >= sizeof suffix &&
             !strcmp(file + n - (sizeof suffix - 1), suffix))
        cut = sizeof suffix - 1;
    else
        return 0;
    snprintf(module, DETECT_PATH_MAX, "%.*s", (int)(n - cut), file);
    for (c = module; *c; c++)
        if (*c == '/')
            *c = '.';
    return module[strspn(module, PYTHON_LINE_NAME ".")] == 0;
}
