/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file python_line.h
 * @brief Lines of a Python file that import, bind, define or call a name. A
 *        statement that goes on in the next line is read up to its end of line.
 *
 * Each function reads the text once, and allocates nothing. No part of the text
 * becomes a pattern: some patterns take minutes and all memory to be compiled.
 */
#ifndef APPPOOL_DETECT_PYTHON_LINE_H
#define APPPOOL_DETECT_PYTHON_LINE_H

#include "detect/detect_text.h"

/** The characters of a name. */
#define PYTHON_LINE_NAME                                                       \
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"

/** Does a line import the module, or a name from it? */
int python_line_imports(const char *text, const char *module);

/** `from MODULE import NAME`, or OTHER as NAME.
 * @param other filled in, as `module` is: the name there
 * @return 0: no line does */
int python_line_from(const char *text, const char *name,
                     char module[DETECT_PATH_MAX], char other[DETECT_PATH_MAX]);

/** `NAME = CALL(...)` or `NAME = OTHER`, at the beginning of a line.
 * @param value filled in: the last call, without its parenthesis, or the other
 *              name. It need not be a name at all. It may be where `name` is
 * @return 0: no line binds it */
int python_line_binds(const char *text, const char *name,
                      char value[DETECT_PATH_MAX]);

/** The first name to which a line binds what the constructor makes.
 * @return 0: there is none */
int python_line_made_by(const char *text, const char *constructor,
                        char name[DETECT_PATH_MAX]);

/** Is it called anywhere? */
int python_line_calls(const char *text, const char *name);

typedef enum {
    PYTHON_LINE_NONE,
    PYTHON_LINE_DEF,
    PYTHON_LINE_ASYNC
} python_line_function_t;

/** Is there a function of this name, at the beginning of a line?
 * @param is_callable filled in, if there is one: it may be called without
 *                    arguments, as far as its first one shows; or NULL */
python_line_function_t python_line_function(const char *text, const char *name,
                                            int *is_callable);

#endif
