/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file commands.h
 * @brief The commands of apppoolctl, and how their responses are shown.
 *
 * Errors: an exit status; the reason was printed.
 * Trust:  missing keys are shown as "-"; texts are printed without control
 *         characters.
 */
#ifndef APPPOOL_CTL_COMMANDS_H
#define APPPOOL_CTL_COMMANDS_H

#include <jansson.h>
#include <stdio.h>

/* show.c: show a response of the server to people: a function for each kind of
 * response. */

int show_status(const json_t *o);
int show_check(const json_t *o);
int show_report(const json_t *o);
int show_settings(const json_t *o);

/** Print the sentence that says what was done. */
int show_done(const json_t *o);

/**
 * Print a response.
 * @param raw     1: as the server sent it
 * @param show_as one of the functions above
 */
int show_response(const char *response, int raw,
                  int (*show_as)(const json_t *response));

/* app_list.c: status --all and status --problems. */

/** All applications of the configuration, used or not, one a line. @param raw
 * the report as the server sent it */
int list_all(const char *dir, int raw);

/**
 * What is wrong now, the worst first, one problem a line (shm/view/problems.h).
 * @param app NULL: all that this user may see
 * @param raw as a list of objects
 * @return EXIT_OK: nothing is wrong; EXIT_PROBLEM: something is; or another one
 */
int list_problems(const char *dir, const char *app, int raw);

/* why.c: why do requests of an app fail or wait now? */

/**
 * Say it in sentences.
 * @param name as it is given to other commands
 * @param raw  as a JSON object with the problems and all sentences
 * @return EXIT_OK: nothing is wrong; EXIT_PROBLEM: something is; EXIT_NO: there
 *         is no such app; or another one
 */
int why(const char *dir, const char *name, int raw);

/* doctor.c */

/**
 * Look at the configuration and at all that runs, and say what to do. It
 * changes nothing.
 * @param given NULL, or the command that starts httpd
 * @param raw   as a JSON object
 * @return EXIT_OK: nothing is wrong; EXIT_PROBLEM: something is; or another one
 */
int doctor(const char *dir, const char *given, int raw);

/* app_find.c: the app that a word names, as the server finds it. */

/** @param configured of the report @param several 1: the word names more than
 * one @return NULL: there is none, or more than one */
const json_t *app_find(const json_t *configured, const char *word,
                       int *several);

#define APP_FIND_NEAREST 3

/** The apps whose names look like the word, the nearest first.
 * @return how many */
size_t app_find_nearest(const json_t *configured, const char *word,
                        const json_t *to[APP_FIND_NEAREST]);

/* advice.c: what to do about a problem. */

#define ADVICE_MAX 1200

/** @param group of the app; NULL: the problem is one of the host
 * @param label of the app */
const char *advice_for(const json_t *report, const json_t *group,
                       const char *kind, const char *label,
                       char to[ADVICE_MAX]);

/* permission.c: can the user of an app enter its AppRoot?
 *
 * A child looks at it with the rights of that user. Somebody else than root may
 * ask only about himself.
 *
 * Trust: the path is not followed as root. The user may stop the child, and may
 *        have a file system that does not respond: it gets some seconds. */

#define PERMISSION_MAX    4600

/** It does not respond, which takes time. */
#define PERMISSION_SILENT 2

/** @param app of configured @param to filled in: what is wrong
 * @return 1 or PERMISSION_SILENT; 0: nothing is, or this user may not ask */
int permission_wrong(const json_t *app, char to[PERMISSION_MAX]);

/** What to do about it. */
const char *permission_advice(const char *wrong, char to[ADVICE_MAX]);

/* wait_for.c: option --wait: wait until an app is drained, or until its new
 * code serves requests. */

typedef struct {
    const char *dir;      /**< runtime directory of the httpd */
    const char *response; /**< the server's response to the command */
    int raw;              /**< 1: print nothing at the end */
    double seconds;       /**< at most; 0: no limit */
} await_t;

/**
 * After drain: wait until no process is left.
 * @return EXIT_OK: none is left; EXIT_NO: the app was put back into service, or
 *         httpd was started again, or the time is over; EXIT_NOT_RUNNING:
 *         there was no response for half a minute
 */
int await_drained(const await_t *a);

/**
 * After restart or start: wait until no old process gets requests any more, and
 * at least one new process has got them for a second. If nothing else would
 * start a process, ask the server to start one.
 * @return EXIT_OK; EXIT_NO: a process did not start, or the app was drained,
 *         or the time is over; EXIT_NOT_RUNNING
 */
int await_running(const await_t *a);

/* follow.c: apppoolctl events and apppoolctl logs: print what is there, and
 * then what is new, also while the spawner or httpd is started again. */

/** What happened, one line for each event. @param raw a JSON object for each
 * event @param follow continue until the output is closed */
int follow_events(const char *dir, int raw, int follow);

/** What an app printed last. @param raw as the server sent it @param follow
 * continue until the output is closed, or the app is gone */
int follow_logs(const char *dir, const char *app, int raw, int follow);

/* detect_print.c: apppoolctl detect DIR: what would be run in that directory,
 * and why. It does not ask a running httpd.
 *
 * Trust: the directory belongs to an app. It is read with its owner's rights,
 *        as the spawner does if no AppUser is set. */

/**
 * Print it. The process has another user and another directory afterwards.
 * @param raw as JSON
 * @return NULL: a file says how to run the app; or a sentence that says why
 *         none does
 */
const char *detect_print(const char *dir, int raw);

/* top.c: apppoolctl top: shows the present state of the pool again and again:
 * its apps, and the open requests, longest first. */

/** The last two reports. */
typedef struct {
    json_t *now, *before;
    double seconds;      /**< between the two */
    double at;           /**< time of the last one */
    const char *trouble; /**< why there was no newer one; or NULL */
    int columns;         /**< of the screen; 0: no limit */
} top_reports_t;

/** What is shown. */
typedef struct {
    const char *member; /**< of the report, for raw; NULL: all of it */
    void (*put)(FILE *out, const top_reports_t *l); /**< writes the screen */
} top_view_t;

/** The apps and the open requests. */
extern const top_view_t top_pool;

/** How much a number has grown in a second, as "12.5"; "-" with the first
 * report, and when the number was reset meanwhile. */
const char *top_rate(const top_reports_t *l, const json_t *now,
                     const json_t *before, const char *key, char text[24]);

/** Write the time of day, with which each screen begins. */
void top_put_clock(FILE *out);

/**
 * Show it until q is pressed.
 * @param raw   a JSON object on a line each time
 * @param delay between two updates, ms
 * @param times end after this many updates; 0: no limit
 * @return the exit status
 */
int top_show(const char *dir, const top_view_t *view, int raw, int delay,
             long times);

/* store_status.c: apppoolctl store status, top, ready, usable: what the report
 * of the pool says about its store. */

/** Print the spaces. @param raw 1: as the JSON object of the report */
int store_status(const char *dir, int raw);

/** The spaces with their rates, for top_show(). */
extern const top_view_t store_top;

/** Exit statuses of store_ready(), beside those of ask_server.h. */
enum {
    STORE_NOT_COMPLETE = 4, /**< it has a part of a copy */
    STORE_NOT_BEST = 5,     /**< another host has better data */
    STORE_NOT_FRESH = 6     /**< its copy is whole, but old */
};

/** Is this host the master, or may it become the master? Prints why not.
 * @return EXIT_OK: it may; one of those above; EXIT_NO */
int store_ready(const char *dir, int raw);

/** As store_ready(), but an old copy is good enough. */
int store_usable(const char *dir, int raw);

/* store_command.c: apppoolctl store WORD. Some words ask the spawner for its
 * report (store_status.c). keys and flush ask a space over its own socket, in
 * the text protocol of memcached, as an app does: root may connect to each
 * space, and any other user to those of its apps. handover and forget ask the
 * store itself, as root.
 *
 * Trust:  the store may answer anything. Texts are printed without control
 *         characters. A store that is too slow is given up. */

/** All but `store top`.
 * @param dir   of httpd; NULL: as ask_directory() finds it
 * @param raw   1: print JSON
 * @param words behind "store"; NULL after the last one */
int store_command(const char *dir, int raw, const char *const *words, int n);

/* store_socket.c: finds a socket of the store, and connects to it.
 *
 * Trust:  the store may have been compromised, and can put a link there to a
 *         socket of another program. So no link is followed, and a socket that
 *         the user of the store has not made is not used. */

/**
 * Find the name of a space in the status. Only root and the user of httpd see
 * there which spaces there are. Other users, and whoever asks while the spawner
 * does not respond or the store begins, have to give the whole name.
 * @param word  the name, or its end, as in app_word.h
 * @param space filled in; to be freed
 * @return an exit status; the reason was printed
 */
int store_socket_space(const char *dir, const char *word, char **space);

/**
 * Connect.
 * @param dir   the runtime directory
 * @param name  of the socket, in CONTRACT_STORES
 * @param what  it is, for the sentence "there is no ..."
 * @param limit s without a byte of the store
 * @param fd    filled in; to be closed
 */
int store_socket_connect(const char *dir, const char *name, const char *what,
                         int limit, int *fd);

#endif
