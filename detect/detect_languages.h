/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file detect_languages.h
 * @brief What the table (detect_table.h) asks of the files of each language,
 *        and what it reads from them. A part for each file.
 */
#ifndef APPPOOL_DETECT_DETECT_LANGUAGES_H
#define APPPOOL_DETECT_DETECT_LANGUAGES_H

#include "detect/detect_file.h"
#include "detect/detect_text.h"

/* detect_procfile.c: the commands that somebody wrote down: in a Procfile, or
 * as the start script of a package.json. */

/** The `web:` line of a Procfile. For `npm start` and the like, the script of
 * package.json (package_script.h). */
detect_file_t detect_file_procfile;

/** The start script of a package.json. */
detect_file_t detect_file_package;

/** The web: line of a Procfile names a server of Heroku's, which runs PHP:
 * `web: vendor/bin/heroku-php-apache2 public/`. Here httpd is the web server.
 * So the line means PHP, and the directory of its files. */
detect_test_t detect_php_is_procfile;
detect_file_t detect_php_procfile;

/* detect_ruby.c: which server runs config.ru, and what runs an application of
 * Sinatra or Roda that has no config.ru. */

/** There is a server that may run config.ru. */
detect_test_t detect_ruby_has_server;

/** config.ru: puma. If Bundler allows only what Gemfile names, and it names no
 * puma, the server is that of Gemfile.lock, or there is none. */
detect_file_t detect_ruby_rackup;

/** The file and the class of the application, for helpers/ruby/app.ru. */
detect_file_t detect_ruby_app;

/* detect_node.c: questions about the files of a Node app. */

/** The start script of package.json runs a server. It does not only make files
 * for a browser (webpack --watch), and is no tool for development that is not
 * installed or stands beside an index.php. */
detect_test_t detect_node_starts;

/** There is a start script. */
detect_test_t detect_node_has_start;

/** What was built decides: package.json has no start script, or one that serves
 * the project for its developers (astro dev, ng serve, nuxt preview), or one
 * whose program is not installed, as in an image without node_modules/.bin. */
detect_test_t detect_node_is_built;

/** What was built decides for Nest, too: its start script would build, and run
 * a second process. */
detect_test_t detect_node_is_nest;

/** A standalone server of Next.js below the project: Next is not installed, or
 * its static files were copied there, as its manual says. */
detect_test_t detect_node_is_standalone;

/** It does not look like a script for a browser. */
detect_test_t detect_node_no_browser;

/** "main" of package.json names a file that is there. */
detect_test_t detect_node_has_main;

/** tsx is installed in node_modules. */
detect_test_t detect_node_has_tsx;

/** That file, or the file of the rule, as the program of node. */
detect_file_t detect_node_read_main, detect_node_read_file;

/* detect_wsgi.c: what the table asks about files of Python, and how their
 * application is named to its server. A file with an ASGI application gets
 * uvicorn. */

/** The text shows an application. */
detect_test_t detect_wsgi_has;
/** It does so itself, and does not only import an application: for patterns, as
 * many files of a package may import it. */
detect_test_t detect_wsgi_binds;
/** MODULE:NAME of that application. */
detect_file_t detect_wsgi_read;

/** The module of a file whose name says enough. NAME is left out if it is
 * `application`, or if the text does not show it. */
detect_file_t detect_wsgi_named, detect_wsgi_named_asgi;

/** NAME.wsgi of mod_wsgi, which is no module. */
detect_file_t detect_wsgi_file;

/** Django is run as ASGI if its settings name ASGI_APPLICATION, and if there is
 * a uvicorn. All projects have the file. */
detect_test_t detect_wsgi_is_django_asgi;
detect_file_t detect_wsgi_django_asgi;

/* detect_script.c: a Python file that has no application for a server, but
 * listens on a port by itself: aiohttp, Tornado, `run()` of Bottle. Our helper
 * gives it the socket in place of that port (helpers/python/listen.py). */

/** The text calls what serves until the end. */
detect_test_t detect_script_serves;
/** The file, as the argument of the helper. */
detect_file_t detect_script_read;

#endif
