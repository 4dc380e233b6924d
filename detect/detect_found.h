/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file detect_found.h
 * @brief What detect.h gets to know about an app, and what it finds.
 */
#ifndef APPPOOL_DETECT_DETECT_FOUND_H
#define APPPOOL_DETECT_DETECT_FOUND_H

#include <stddef.h>
#include <stdint.h>

#include "shm/format/format.h"

#define DETECT_MAX        1024 /* of a command, and of a sentence */
#define DETECT_CANDIDATES 24   /* that are listed */

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
    int lists;            /**< the candidates are wanted, too */
    /** A variable of the configuration; NULL: it is not set, or not known */
    const char *(*variable)(const void *context, const char *name);
    const void *context;
} detect_config_t;

/** What npm tells a script of its package. */
typedef struct {
    char name[128], version[64];
    char event[64]; /**< name of the script */
} detect_package_t;

/** A file that could decide. */
typedef struct {
    char file[64];
    char why[256]; /**< a clause about the file: why it has won or lost */
    int won;
} detect_candidate_t;

struct detect_server;

typedef struct {
    uint32_t protocol;        /**< APL_HTTP ... */
    uint32_t concurrency;     /**< 0: any number */
    uint32_t suitable;        /**< the number for this kind of app */
    int has_template;         /**< there is one, too: for AppPreload of at
                                   most this CONTRACT_PRELOAD_*; or 0 */
    int is_silent;            /**< it does not say READY=1, and has to */
    int runs_node;            /**< the command is node, or a script of npm */
    int uses_port;            /**< PORT has to be a number; see detect_line.h */
    int runs_ruby;            /**< the command is ruby, or puma by any name */
    uint32_t children;        /**< of php-cgi, for its environment; 0: none */
    detect_package_t package; /**< of the script of npm; empty: none */
    const struct detect_server *server; /**< in place of the rule's; or NULL */
    char before[160];         /**< variables of the server: NAME=value ... */
    char file[256];           /**< the file that decided */
    char command[DETECT_MAX]; /**< runs the app; see boot.c for % */
    int is_written;           /**< a file of the app has the command: % means
                                   nothing in it */
    char why[DETECT_MAX];     /**< a clause: why this command, or why none */
    char counted[256];        /**< a clause: where the number of requests comes
                                   from; "": from the kind of the app */
    int is_unread;            /**< it also says that a number cannot be read */
    size_t n_candidates;
    detect_candidate_t candidates[DETECT_CANDIDATES];
} detect_found_t;

#endif
