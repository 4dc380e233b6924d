/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file detect_python.h
 * @brief Finds the application in a Python file, by its text: which name is
 *        bound to it, and is it called as WSGI or as ASGI? The constructor and
 *        the import decide. If the file imports the name from another file of
 *        the app, that file is read. Bottle has an application of its own, to
 *        which a file adds that binds none.
 */
#ifndef APPPOOL_DETECT_DETECT_PYTHON_H
#define APPPOOL_DETECT_DETECT_PYTHON_H

#include "detect/detect_text.h"

typedef enum {
    DETECT_PYTHON_UNKNOWN,
    DETECT_PYTHON_WSGI,
    DETECT_PYTHON_ASGI,
    DETECT_PYTHON_NEITHER /**< it has a server of its own */
} detect_python_kind_t;

typedef struct {
    detect_python_kind_t kind;
    char name[64];         /**< that is bound; "": none */
    int is_factory;        /**< the name is a function that makes it */
    int is_default;        /**< there is no name: it is the framework's own */
    int is_imported;       /**< the file only imports it */
    const char *framework; /**< "Flask" ...; NULL: not known */
    const char *imported;  /**< a framework that the file imports; or NULL */
    detect_python_kind_t kind_of_import; /**< of that framework */
} detect_python_t;

/** @param file a path below dir. @return 1: it has an application */
int detect_python_find(int dir, const char *file, detect_python_t *app);

/** How Python imports the file: shop/__init__.py is `shop`.
 * @return 0: it cannot be imported by a name */
int detect_python_module(const char *file, char module[DETECT_PATH_MAX]);

#endif
