/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "detect/detect_table.h"

#include <stddef.h>

#include "detect/detect_languages.h"

#define CHILDREN     5  /* of php-cgi */
#define DJANGO_TASKS 16 /* requests: then load starts another process */

/* ---- rules that are alike ---- */

#define NODE         APL_HTTP, DETECT_ANY, NULL, NULL
#define NODE_FILE(file, content)                                               \
    {                                                                          \
        file, NULL, content, NULL, "Node", NODE, "node " file, NULL, 0, 0      \
    }
/* What a tool has built. */
#define NODE_BUILT(file, beside, test, framework)                              \
    {                                                                          \
        file, beside, NULL, test, framework, NODE, "node " file,               \
            "is not what is run", 0, 0                                         \
    }
#define TYPESCRIPT(file, content)                                              \
    {                                                                          \
        file, NULL, content, detect_node_has_tsx, "TypeScript", NODE,          \
            "node --import tsx " file, "is TypeScript", 0, 0                   \
    }
/* One file, or the only one of several that binds an application. */
#define PYTHON(file, lacks, is_usual)                                          \
    {                                                                          \
        file, NULL, NULL, detect_wsgi_has, "Python", APL_HTTP, 1,              \
            detect_wsgi_read, &detect_server_wsgi, NULL, lacks, is_usual, 1    \
    }
#define PYTHON_ANY(file)                                                       \
    {                                                                          \
        file, NULL, NULL, detect_wsgi_binds, "Python", APL_HTTP, 1,            \
            detect_wsgi_read, &detect_server_wsgi, NULL, NULL, 0, 1            \
    }
#define PYTHON_NAMED(file, framework, concurrency, read, server)               \
    {                                                                          \
        file, NULL, NULL, NULL, framework, APL_HTTP, concurrency, read,        \
            server, NULL, NULL, 1, 0                                           \
    }
#define PYTHON_SERVES(file, is_single)                                         \
    {                                                                          \
        file, NULL, NULL, detect_script_serves, "Python", APL_HTTP, 1,         \
            detect_script_read, &detect_server_listen, NULL, NULL, 0,          \
            is_single                                                          \
    }
#define RUBY(file, lacks)                                                      \
    {                                                                          \
        file, NULL, RACK_APP, NULL, "Rack", APL_HTTP, 1, detect_ruby_app,      \
            &detect_server_puma, NULL, lacks, 0, 1                             \
    }
#define PSGI(file, is_usual)                                                   \
    {                                                                          \
        file, NULL, NULL, NULL, "PSGI", APL_HTTP, 1, detect_file_plain,        \
            &detect_server_psgi, NULL, NULL, is_usual, 1                       \
    }
#define MOJO_FILE(file)                                                        \
    {                                                                          \
        file, NULL, MOJO, NULL, "Mojolicious", APL_HTTP, DETECT_ANY,           \
            detect_file_daemon, &detect_server_mojo, NULL, NULL, 0, 1          \
    }
#define PHP(file, is_usual)                                                    \
    {                                                                          \
        file, NULL, NULL, NULL, "PHP", APL_FCGI, CHILDREN, NULL,               \
            &detect_server_php, "", NULL, is_usual, 0                          \
    }

/* ---- what a line says ---- */

#define NEXT   "next/dist/server/|__NEXT_PRIVATE_STANDALONE"
#define SERVES "\\.listen *\\(|createServer *\\(|NestFactory|serve *\\("
#define RACK_APP                                                               \
    "^ *(require +[\"']sinatra[\"']|"                                          \
    "class +[A-Z][A-Za-z0-9_:]* *< *(::)?(Sinatra::(Base|Application)|Roda))"
#define MOJO         "^ *use +Mojolicious::Lite|Mojolicious::Commands|start_app *\\("
#define MOD_WSGI     "(^| )application *(=|$|,)|^def +application *\\("

#define LACKS_PYTHON "has no application that its text shows"
#define LACKS_RUBY   "has no application of Sinatra or Roda"

const char *const detect_php_dirs[] = {
    "public", "",    "web",         "htdocs",   "webroot", "docroot",
    "pub",    "www", "public_html", "httpdocs", "Web",     NULL};

const detect_rule_t detect_rules[] = {
    /* ---- written down for servers ---- */
    {"Procfile", NULL, NULL, detect_php_is_procfile, "PHP", APL_FCGI, CHILDREN,
     detect_php_procfile, &detect_server_php, "", NULL, 0, 0},
    {"Procfile", NULL, NULL, NULL, NULL, APL_AUTO, 1, detect_file_procfile,
     NULL, NULL, "has no web: line that can be run", 1, 0},
    {"config.ru", NULL, NULL, detect_ruby_has_server, "Rack", APL_HTTP, 1,
     detect_ruby_rackup, &detect_server_puma, "", NULL, 1, 0},
    PYTHON_NAMED("passenger_wsgi.py", "WSGI", 1, detect_wsgi_named,
                 &detect_server_wsgi),
    PYTHON_NAMED("wsgi.py", "WSGI", 1, detect_wsgi_named, &detect_server_wsgi),
    {"wsgihandler.py", NULL, MOD_WSGI, NULL, "web2py", APL_HTTP, 1,
     detect_wsgi_named, &detect_server_wsgi, NULL, NULL, 0, 0},
    PYTHON_NAMED("asgi.py", "ASGI", DETECT_ANY, detect_wsgi_named_asgi,
                 &detect_server_uvicorn),
    {"*/asgi.py", "manage.py", NULL, detect_wsgi_is_django_asgi,
     "Django, as ASGI", APL_HTTP, DJANGO_TASKS, detect_wsgi_django_asgi,
     &detect_server_uvicorn, NULL, NULL, 0, 0},
    {"*/wsgi.py", "manage.py", NULL, NULL, "Django", APL_HTTP, 1,
     detect_file_django, &detect_server_wsgi, NULL,
     "needs a manage.py in AppRoot", 1, 0},

    /* ---- built to be run ---- */
    {"server.js", NULL, NEXT, NULL, "Next.js, standalone", NODE,
     "node server.js", NULL, 0, 0},
    NODE_BUILT(".next/standalone/server.js", NULL, detect_node_is_standalone,
               "Next.js, standalone"),
    {"server.js", NULL, SERVES, detect_node_is_built, "Node", NODE,
     "node server.js", NULL, 0, 0},
    NODE_BUILT("server/index.mjs", "nitro.json", detect_node_is_built, "Nitro"),
    NODE_BUILT(".output/server/index.mjs", NULL, detect_node_is_built, "Nitro"),
    NODE_BUILT("main.js", "star.json", detect_node_is_built, "Meteor"),
    NODE_BUILT("build/index.js", "build/handler.js", detect_node_is_built,
               "SvelteKit"),
    NODE_BUILT("dist/server/entry.mjs", NULL, detect_node_is_built, "Astro"),
    NODE_BUILT("dist/main.js", NULL, detect_node_is_nest, "Nest"),
    {"dist/*/server/server.mjs", NULL, NULL, detect_node_is_built, "Angular",
     APL_HTTP, DETECT_ANY, detect_node_read_file, NULL, NULL, NULL, 0, 1},
    {"package.json", NULL, NULL, detect_node_starts, "npm", APL_HTTP,
     DETECT_ANY, detect_file_package, NULL, NULL,
     "has no start script that can be run", 1, 0},
    {"server.js", NULL, NULL, detect_node_no_browser, "Node", NODE,
     "node server.js", NULL, 1, 0},
    {"app.js", NULL, NULL, detect_node_no_browser, "Node", NODE, "node app.js",
     NULL, 1, 0},

    /* ---- the text shows an application ---- */
    PYTHON("application.py", LACKS_PYTHON, 0),
    PYTHON("app.py", LACKS_PYTHON, 1),
    PYTHON("main.py", LACKS_PYTHON, 1),
    PYTHON("app/main.py", LACKS_PYTHON, 0),
    PYTHON("app/app.py", NULL, 0),
    {"*.wsgi", NULL, MOD_WSGI, NULL, "WSGI", APL_HTTP, 1, detect_wsgi_file,
     &detect_server_wsgi, NULL, "has no line that binds application", 0, 1},
    PYTHON("server.py", NULL, 0),
    PYTHON("run.py", NULL, 0),
    PYTHON("api.py", NULL, 0),
    PYTHON("index.py", NULL, 0),
    PYTHON("api/index.py", NULL, 0),
    PYTHON_ANY("*/__init__.py"),
    PYTHON_ANY("src/*/__init__.py"),
    PYTHON_ANY("*/app.py"),
    PYTHON_ANY("*/main.py"),
    PYTHON_ANY("*/wsgi.py"),
    PYTHON_ANY("*/asgi.py"),
    PYTHON_ANY("*.py"),
    RUBY("app.rb", LACKS_RUBY),
    RUBY("*.rb", NULL),
    PSGI("app.psgi", 1),
    PSGI("bin/app.psgi", 0),
    PSGI("*.psgi", 0),
    MOJO_FILE("*.pl"),
    MOJO_FILE("script/*"),
    {"*.fcgi", NULL, NULL, NULL, "FastCGI", APL_FCGI, 1, NULL, NULL, NULL,
     "has to be executable, with a plain name, and AppListen has to be fd", 1,
     0},
    PHP("index.php", 1),
    PHP("public/index.php", 1),
    PHP("web/index.php", 0),
    PHP("htdocs/index.php", 0),
    PHP("webroot/index.php", 0),
    PHP("docroot/index.php", 0),
    PHP("pub/index.php", 0),
    PHP("www/index.php", 0),
    PHP("public_html/index.php", 0),
    PHP("httpdocs/index.php", 0),
    PHP("Web/index.php", 0),
    PYTHON_SERVES("app.py", 0),
    PYTHON_SERVES("main.py", 0),
    PYTHON_SERVES("server.py", 0),
    PYTHON_SERVES("*.py", 1),

    /* ---- names alone ---- */
    {"package.json", NULL, NULL, detect_node_has_start, "npm", APL_HTTP,
     DETECT_ANY, detect_file_package, NULL, NULL, NULL, 0, 0},
    NODE_FILE("server.js", NULL),
    NODE_FILE("app.js", NULL),
    {"package.json", NULL, NULL, detect_node_has_main, "Node", APL_HTTP,
     DETECT_ANY, detect_node_read_main, NULL, NULL, NULL, 0, 0},
    NODE_FILE("server.mjs", NULL),
    NODE_FILE("app.mjs", NULL),
    NODE_FILE("server.cjs", NULL),
    NODE_FILE("index.js", NULL),
    NODE_FILE("index.mjs", NULL),
    NODE_FILE("main.js", SERVES),
    NODE_FILE("main.mjs", SERVES),
    NODE_FILE("bin/www", NULL),
    NODE_FILE("dist/main.js", SERVES),
    NODE_FILE("dist/server.js", SERVES),
    NODE_FILE("dist/app.js", SERVES),
    NODE_FILE("dist/index.js", SERVES),
    NODE_FILE("dist/index.mjs", SERVES),
    NODE_FILE("build/server.js", SERVES),
    NODE_FILE("build/index.js", SERVES),
    NODE_FILE("build/server/index.mjs", SERVES),
    NODE_FILE("server/index.js", SERVES),
    NODE_FILE("server/index.mjs", SERVES),
    NODE_FILE("src/index.js", SERVES),
    NODE_FILE("src/server.js", SERVES),
    NODE_FILE("src/app.js", SERVES),
    TYPESCRIPT("server.ts", NULL),
    TYPESCRIPT("app.ts", NULL),
    TYPESCRIPT("index.ts", NULL),
    TYPESCRIPT("src/index.ts", SERVES),
    TYPESCRIPT("src/server.ts", SERVES),
    TYPESCRIPT("src/main.ts", SERVES),
    PHP("*.php", 0),
    {NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, 0, 0},
};
