/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file control.h
 * @brief What others may ask of the spawner, and what it does for the pool from
 *        time to time. A part for each file of the folder.
 */
#ifndef APPPOOL_SPAWNER_CONTROL_CONTROL_H
#define APPPOOL_SPAWNER_CONTROL_CONTROL_H

#include <jansson.h>

#include "spawner/process/state.h"

/* control.c: the control socket: apppoolctl sends commands, the spawner
 * responds.
 *
 * A client sends one line (command_list.c), and gets one JSON document and EOF.
 * Nothing here blocks. A client that does not send or read is dropped after
 * some seconds, or earlier if there are many. A response that takes long is
 * made by a helper job (status_job.c), once for all clients that have sent the
 * same command by then.
 *
 * control.sock is for root and httpd's user. Each user of apps has a socket.
 *
 * Errors: a socket that cannot be made is tried again each second.
 * Trust: SO_PEERCRED says which user the client is. The connection of a
 *        client that is neither root nor the user of the socket is closed,
 *        whatever the mode of the socket is. */

/** A new spawner: make its sockets, and remove those of the last one. */
void control_begin(spawner_t *s);

/** Make the sockets that are missing: control.sock, which httpd's user gets,
 * and those of the users of apps. The app table names all of them. */
void control_configure(spawner_t *s);

/** Drop clients that are too slow, and begin the next response. Try again to
 * make the sockets that are missing. */
void control_tick(spawner_t *s);

/* status_job.c: a helper job (job.h) makes the responses that take long. The
 * loop only copies their text.
 *
 * One job runs at a time. After it there is a pause that is at least as long as
 * the job ran, so a flood of commands uses at most half of a core.
 *
 * Lock:   the child may take the pool's lock for a copy (snapshot.h).
 * Errors: if the child fails or takes too long, there is no text.
 * Crash:  if the spawner dies, its clients lose their connections.
 * Trust:  the child is the spawner's own program. */

#define STATUS_JOB_LIMIT (20 * SECOND) /* for the child */

typedef struct status_job_order status_job_order_t;

/** Make a response: called in the child. @return NULL: there is no memory */
typedef json_t *status_job_make_t(spawner_t *s,
                                  const status_job_order_t *order);

/** Which response to make. Zeroed at first, so that two orders for the same
 * response are equal byte by byte. */
struct status_job_order {
    status_job_make_t *make;
    uid_t only; /**< the apps of this user; USERDB_NOBODY: all apps */
    char app[APL_NAME_MAX]; /**< this app; "": all */
    uint64_t process;       /**< id of a process */
    int64_t limit;          /**< us for the child; 0: STATUS_JOB_LIMIT */
};

/** The child has ended.
 * @param text of `size` bytes, as long as this call lasts; NULL: there is none
 */
typedef void status_job_made_t(spawner_t *s, const char *text, size_t size);

/**
 * Begin a response. The pool is read after this call.
 * @return 1: `made` will be called; 0: not now, the loop wakes up to try it
 *         again; -1: there is no memory, or no child
 */
int status_job_begin(spawner_t *s, const status_job_order_t *order,
                     status_job_made_t *made);

/* command.c: one command of apppoolctl: its user, its words, and the app or the
 * process that a word names.
 *
 * Errors: a refusal, {"error": SENTENCE}, which apppoolctl gets.
 * Trust:  the kernel says which user it is (SO_PEERCRED). A word is only looked
 *         up. A user finds the apps that run as that user. For that user, all
 *         other apps do not exist. */

#define COMMAND_WORDS 3

/** The user who sends the command. */
typedef struct {
    uid_t uid;
    int is_root;  /**< may send all commands */
    int is_httpd; /**< may see the status of all apps */
} command_client_t;

typedef struct {
    spawner_t *s;
    apr_pool_t *p;
    command_client_t user;
    char *words[COMMAND_WORDS];
    int n;
    status_job_order_t order; /**< make: a job has to make the response */
} command_t;

/** A refusal without a command: {"error": SENTENCE}. */
json_t *command_error(const char *sentence);

/** A refusal. */
json_t *command_refuse(const command_t *q, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** The refusal while the pool's lock cannot be taken. */
json_t *command_refuse_busy(const command_t *q);

/** For the log: "apppoolctl", or "apppoolctl, user 1000". */
const char *command_by(const command_t *q);

/** May this user see and restart the app? @param a NULL: no */
int command_may(const command_client_t *user, const app_entry_t *a);

/** The app that the second word names: by its name, or by its short name or
 * AppRoot, if only one app has that. @return NULL: *refusal is set */
const app_entry_t *command_find_app(const command_t *q, json_t **refusal);

/** The process whose id begins with the second word. @return NULL: *refusal is
 * set */
process_t *command_find_process(const command_t *q, json_t **refusal);

/* command_list.c: the commands of the control socket, and their responses.
 *
 *     status [APP]        root and httpd's user: all; a user: that user's apps
 *     restart APP HOW     root, or the app's user; HOW: rolling, blocking or
 *                         default
 *     start APP           root, or the app's user
 *     logs APP [NUMBER]   root, or the app's user
 *     report ID           root, or the app's user
 *     show APP            root, or the app's user. The user sees no file of the
 *                         configuration and no command of root
 *     check               root
 *     detach ID           root
 *     kill ID             root
 *     drain APP           root
 *
 * A command is one line of words with a tab between them; a word has no
 * control character. A response is a JSON object: the result, or
 * {"ok": true, "text": SENTENCE, ...} when something was done, or
 * {"error": SENTENCE} when it was not.
 *
 * Trust: the kernel says which user it is. The words are checked and then
 *        looked up; nothing else is done with them. */

/**
 * Run the command of one line.
 * @param line  is changed; it includes its newline
 * @param order zeroed at first; filled in if a helper job has to make the
 *              response (status_job.c)
 * @return NULL: order->make is set
 */
json_t *command_list_run(spawner_t *s, char *line, size_t length,
                         const command_client_t *user,
                         status_job_order_t *order);

/* apply_table.c: a new app table: load it, and make the segment and the running
 * processes follow. The spawner gets as many descriptors as MaxPoolSize needs.
 *
 * Errors: a table that is refused is logged once, and read again each second.
 *         The old one stays in force meanwhile. If there are too few
 *         descriptors, one line of the log has the numbers. */

/**
 * Load the table if its file is another one than last time. The limit of
 * descriptors is raised to what it needs; apps get s->descriptors, which is
 * httpd's own.
 * @return 1: a new table is in force
 */
int apply_table_refresh(spawner_t *s);

/** There is no table: s->table is an empty one. Only the name of the instance
 * is known, which the mark contains. */
void apply_table_none(spawner_t *s);

/** Copy to the process what the table says about its app: time limits, the stop
 * signal, its label, and the route of its output. If the app has left the
 * table, the process keeps what it has. */
void apply_table_configure(spawner_t *s, process_t *p);

/** Was the process made from another configuration than that of `a`? */
int apply_table_is_outdated(const process_t *p, const app_entry_t *a);

/**
 * Write the options of the app of this process to the segment, where the
 * process has a place from now on.
 * @return that of apl_configure_group(); APR_SUCCESS: no such app
 */
apr_status_t apply_table_process(spawner_t *s, const process_t *p);

/**
 * Make the segment follow the table: at once after a new table, and then each
 * second, because damage may have changed the segment. Also put the users of
 * apps into the table: a process knows the user that owned AppRoot when
 * it began.
 * @return 1: an app has another user now
 */
int apply_table(spawner_t *s);

/* audit.c: compares the segment with the records of the spawner, checks its
 * invariants, and corrects what is wrong.
 *
 * The registry says which processes exist, and to which app they belong. It may
 * be that no verb notices a list that has lost a slot, or a wrong count. A
 * proof of all invariants finds it.
 *
 * Lock:  takes and gives back the pool lock, for the copy and for each verb.
 * Trust: nothing is taken over from the segment; it is only corrected. */

/** Compare the segment with the records. Call this once a second. */
void audit_check(spawner_t *s);

/**
 * Prove all invariants, and repair what two proofs in a row find. Call this in
 * each turn of the loop: a call takes less than a millisecond, and wakes the
 * loop for the next one. A proof begins every two seconds.
 */
void audit_prove(spawner_t *s);

/* lock_rescue.c: frees the pool lock when it names a thread that does not hold
 * it.
 *
 * A hostile child of httpd can write the number of any thread into the lock.
 * The kernel frees the lock when that thread ends. But if the thread lives, all
 * others would wait for ever. A real lock holder runs, and gives the lock back
 * after microseconds. It sleeps only when it is stopped, or waits for a page.
 * So there are two signs that the thread does not hold the lock, or will not
 * give it back soon. First: for a second, the lock has named the same thread,
 * nothing in the pool has changed, and the thread sleeps until something
 * happens. Second: the thread belongs to no child of httpd.
 *
 * A thread whose cgroup is frozen also sleeps, and may really hold the lock.
 * The pool continues without it. shm/verbs/enter.h says what happens when it
 * runs again.
 *
 * Lock:  reads the lock word, and may free the lock.
 * Trust: the number in the lock is used, and nothing else. A child that keeps
 *        the lock and runs all the time looks like a busy one. */

/** Check the lock. Call this once a second. */
void lock_rescue_check(spawner_t *s);

#endif
