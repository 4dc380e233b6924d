/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file detect_table.h
 * @brief THE TABLE: which files say what is run. It is data; detect.c reads it.
 *
 * A rule holds if one of its files is there, and what is said of the file is
 * true. The first rule that holds and gives a command decides, so the rules
 * stand in the order of evidence: first what somebody wrote down for servers
 * (Procfile, config.ru, wsgi.py), then what was built to be run, then files
 * whose text shows an application, then names alone.
 *
 * A rule with a server runs that server, and `command` is its last argument.
 * Other rules run `command`. If `command` is NULL, the command is what `read`
 * has found. Without `read`, it is the file itself, which has to be a program.
 */
#ifndef APPPOOL_DETECT_DETECT_TABLE_H
#define APPPOOL_DETECT_DETECT_TABLE_H

#include <stdint.h>

#include "detect/detect_file.h"
#include "detect/detect_server.h"
#include "detect/detect_text.h"

#define DETECT_ANY 0 /* number of requests at once */

typedef struct {
    const char *file;      /**< a path, or a pattern (detect_text_list()) */
    const char *beside;    /**< this file has to be there; NULL: none */
    const char *content;   /**< a line of the file matches; NULL: anything */
    detect_test_t *test;   /**< and this is true; NULL: nothing */
    const char *framework; /**< what it is; NULL: the file says it */
    uint32_t protocol;     /**< AppProtocol; APL_AUTO: any */
    uint32_t concurrency;  /**< AppConcurrency that suits it */
    detect_file_t *read;   /**< reads the file; NULL: nothing to read */
    const detect_server_t *server; /**< NULL: none */
    const char *command;           /**< NULL: see above */
    const char *lacks; /**< a clause for a file that gives no command; NULL:
                            the file always gives one, or is no evidence */
    int is_usual;      /**< it is named where nothing is found */
    int is_single;     /**< several files of which this is true are none */
} detect_rule_t;

/** Its last rule has no file. */
extern const detect_rule_t detect_rules[];

/** The directories of AppRoot where index.php may be, the first first; "" is
 * AppRoot. The last is NULL. */
extern const char *const detect_php_dirs[];

#endif
