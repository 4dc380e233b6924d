/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file detect_wsgi.h
 * @brief What the rules ask about files of Python, and how their application is
 *        named to its server. A file with an ASGI application gets uvicorn.
 */
#ifndef APPPOOL_DETECT_DETECT_WSGI_H
#define APPPOOL_DETECT_DETECT_WSGI_H

#include "detect/detect_file.h"
#include "detect/detect_text.h"

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

#endif
