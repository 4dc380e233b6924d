/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file detect_found.h
 * @brief What detect.h gets to know about an app, and what it finds. detect.c,
 *        detect_file.c and detect_server.c share it.
 */
#ifndef APPPOOL_DETECT_DETECT_FOUND_H
#define APPPOOL_DETECT_DETECT_FOUND_H

#include <stddef.h>
#include <stdint.h>

#include "shm/format/format.h"

#define DETECT_MAX 1024 /* of a command, and of a sentence */

/* The characters that need no quotes in a shell, without the slash. */
#define DETECT_PLAIN                                                           \
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"

/** What the configuration says about the app. */
typedef struct {
    uint32_t listen;      /**< APL_LISTEN_*: where it has to listen */
    uint32_t protocol;    /**< APL_HTTP ..., or APL_AUTO */
    uint32_t concurrency; /**< requests that a process gets at once; 0: any;
                               or APL_CONCURRENCY_AUTO */
    int is_template;      /**< a template is wanted: AppPreload, as
                               CONTRACT_PRELOAD_*; or 0 */
    int says_ready;       /**< the process has to say READY=1 (AppReady
                               notify) */
} detect_config_t;

typedef struct {
    uint32_t protocol;        /**< APL_HTTP ... */
    uint32_t concurrency;     /**< 0: any number */
    int has_template;         /**< there is one, too: for AppPreload of at
                                   most this CONTRACT_PRELOAD_*; or 0 */
    int is_silent;            /**< it does not say READY=1, and has to */
    int runs_node;            /**< the command is node, or a script of npm */
    int runs_ruby;            /**< the command is ruby, or puma by any name */
    char file[256];           /**< the file that decided */
    char command[DETECT_MAX]; /**< runs the app; see boot.c for % */
    char why[DETECT_MAX];     /**< a clause: why this command, or why none */
} detect_found_t;

#endif
