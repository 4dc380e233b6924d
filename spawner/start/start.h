/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file start.h
 * @brief How processes start, until they are ready. A part for each file of the
 *        folder.
 */
#ifndef APPPOOL_SPAWNER_START_START_H
#define APPPOOL_SPAWNER_START_START_H

#include <stdint.h>

#include "spawner/process/state.h"
#include "spawner/process/environment.h"
#include "base/privilege.h"

/* launch.c: takes an order of the segment and starts a process. Either a
 * template forks it (template.h, fork_start.c), or it is forked here: sockets,
 * record, "go". boot.c says what the child does then.
 *
 * Crash:  before "go" the child has done nothing. If no "go" comes, it exits.
 * Trust:  an order only names an app. Everything else comes from the app
 *         table. */

/** Take orders, up to the number of processes that may start at once. Continue
 * the starts that a template has to do. */
void launch_orders(spawner_t *s);

/* boot.c: what the forked child does until it has become the app.
 *
 * The child waits for the byte "go"; at EOF the spawner has died, and the child
 * exits. Then it reports its steps through a pipe. Its end of the pipe closes
 * when the command of the app is executed. No other process of the app's user
 * can open the pipe before, because the child is not dumpable.
 *
 * Errors: a report BOOT_FAILED, then exit.
 * Crash:  a child that got no "go" has done nothing, and ends.
 * Trust:  the child does everything that may be slow, or that concerns files of
 *         the app's user, after it has closed all descriptors of the spawner
 *         except its own. It does not have root's rights when it does what the
 *         app's files say. If AppUser does not name the user, AppRoot must
 *         belong to the owner that the app table names. */

enum { BOOT_USER = 1, BOOT_COMMAND, BOOT_NOTE, BOOT_FAILED };

#define BOOT_TEXT_MAX 1024

/** A report. It passes the pipe in one piece (it is less than PIPE_BUF). */
typedef struct {
    uint32_t kind;            /**< BOOT_* */
    uint32_t uid, gid;        /**< BOOT_USER */
    uint32_t protocol;        /**< BOOT_COMMAND: APL_HTTP ... */
    uint32_t concurrency;     /**< BOOT_COMMAND: requests at once; 0: any */
    uint32_t step;            /**< BOOT_FAILED: state.h */
    uint64_t stamp;           /**< BOOT_COMMAND: of restart.txt */
    char text[BOOT_TEXT_MAX]; /**< name of the user, command, what is to be
                                   said about it, or what failed */
} boot_report_t;

_Noreturn void boot_app(const boot_t *boot);

/* env_file.c: AppEnvFile: environment variables of an app, in a file that
 * perhaps only root can read.
 *
 *     # a comment
 *     NAME=value
 *     export NAME='value'
 *     NAME="a value with \" and \\"
 *
 * The format is the common subset of systemd's EnvironmentFile= and of .env.
 * A line that these two read in different ways is refused. doc/directives.md
 * has the whole format.
 *
 * Errors: a sentence with the file, the line and the name of the variable, but
 *         without its value.
 * Trust:  the child that becomes the app reads the file before it gives up
 *         root's rights (open_as.c). The file must belong to root or to the
 *         app's user. Nobody else may write it, or put another file in its
 *         place (approot_owner.h). With root's rights, only a file of root's is
 *         read, from a directory that only root may write. So a user cannot get
 *         a file of root's into the environment of an app, and another user
 *         cannot change that environment. The text is parsed after root's
 *         rights are given up. */

#define ENV_FILE_MAX       65536 /* bytes of a file */
#define ENV_FILE_ERROR_MAX 512

/**
 * Read the file, as root. The process has the groups of `account` already.
 * @return its text, never freed; NULL: `error` says why
 */
char *env_file_read(const char *path, const privilege_t *account,
                    size_t *length, char error[ENV_FILE_ERROR_MAX]);

/**
 * Parse the text, with the rights of the app's user.
 * @param text is changed; the result points into it
 * @return NAME=value, NULL at the end; never freed. NULL: `error` says why
 */
char **env_file_parse(const char *path, char *text, size_t length,
                      char error[ENV_FILE_ERROR_MAX]);

/* start_parts.c: what a new process gets: its listening socket, its output, its
 * notify socket, the pipe for its reports, and the pipe through which it gets
 * "go". They are the same whether it is executed or forked by a template.
 *
 * Errors: the part that could not be made, with errno.
 * Crash:  the next spawner removes the files of a process without a record. */

/** Descriptors for the new process, or -1. All are closed on exec. */
typedef struct {
    int listener; /**< of a template: its end of the socket of its orders */
    int output;
    int go[2];
    int report[2];
} start_parts_t;

/**
 * Make all parts. The loop watches the ends of the spawner, except two: that of
 * "go", which is x->go[1], and that of the orders of a template.
 * @param on_report is called for the pipe of the reports
 * @return NULL; or what could not be made
 */
const char *start_parts_make(spawner_t *s, process_t *p, start_parts_t *x,
                             loop_ready_t *on_report);

/** Close those that are open. */
void start_parts_close(start_parts_t *x);

/** The process does not get the parts after all: drop the ends of the
 * spawner. */
void start_parts_drop(process_t *p);

/* fork_start.c: the start of a process by a template: sends the order, reads
 * the hello of the forked process, asks the kernel what that process is, and
 * sends "go". doc/template.md describes the protocol.
 *
 * Errors: if anything fails, the command of the app is executed instead
 *         (FORKING_EXECUTE). The pool does not learn of it.
 * Crash:  the forked process is in the registry and in the segment before it
 *         may go. Without "go" it has run no code of the app, and exits.
 * Trust:  the template is hostile. The spawner reads only the hello, which
 *         names a process. The kernel says what that process is. It is a child
 *         of the spawner that was not reaped, so no other process has its
 *         pid. */

/** Send the order. p->forking then says whether the template has it. */
void fork_start_order(spawner_t *s, process_t *p, process_t *t);

/** If there was no hello for five seconds, the command is executed. */
void fork_start_check(spawner_t *s, process_t *p);

/**
 * The command is to be executed: drop what the forked process was to get.
 * @return 0; -1: not yet, as its cgroup still has a process that was killed. If
 *         that survives for a second, the start fails, and the process is
 *         handled like one of the app that survives SIGKILL.
 */
int fork_start_clear(spawner_t *s, process_t *p);

/* start_reports.c: reads what the forked child reports while it becomes the app
 * (boot.c), and then what the app prints.
 *
 * Crash:  a report that was not read is lost (adopt.c).
 * Trust:  the child reports before it executes a command of the app. The output
 *         is the app's. */

/** Read the reports that the booting child has sent so far. */
void start_reports_read(spawner_t *s, process_t *p);

/** loop_ready_t of the pipe of the reports. */
void start_reports_ready(void *owner, uint32_t events);

/** loop_ready_t of the FIFO of the output. */
void start_reports_output(void *owner, uint32_t events);

/* start_notes.c: what is said about the command of an app is logged once, and
 * not at each start of a process. The next spawner says it again. */

/** Was this not said yet? It counts as said from here on. */
int start_notes_is_new(const char *app, const char *text);

/* sd_notify.c: reads $NOTIFY_SOCKET: the messages of apps, in the format of
 * systemd.
 *
 * READY=1    The app serves. It must also accept a connection, because some
 *            servers say READY=1 before their code is loaded.
 * STOPPING=1 The app wants no more requests and will end by itself.
 *
 * Trust:  any process of the app's user may send. Other messages are
 *         ignored. */

/** loop_ready_t of a process's notify socket. */
void sd_notify_read(void *owner, uint32_t events);

/* ready.c: finds out whether a booting app accepts connections: connects to it,
 * and checks whether the app takes the connection out of the queue of its
 * listening socket.
 *
 * This connection is the probe. It sends nothing. For the app it is a client
 * that went away. With AppReady notify, the app must also say READY=1. With
 * AppReady /path, a request for that path comes last (warmup.c).
 *
 * Crash: a READY=1 that comes while no spawner runs is lost. So an adopted
 *        process counts as ready when it accepts connections and has said
 *        nothing for five seconds.
 * Trust: the process that listens at the app's address counts as the app. On a
 *        port, only a process of the app's user, or of root, may listen. */

/** Check the processes that boot. Some of them may be ready now. */
void ready_check(spawner_t *s);

#define READY_TEXT_MAX 320

/** For a process that took too long: what is missing? "it did not ..." */
const char *ready_missing(const spawner_t *s, const process_t *p,
                          char text[READY_TEXT_MAX]);

/* warmup.c: AppReady /path: sends requests for that path, over HTTP, to a
 * process that accepts connections, until a response is 2xx or 3xx. So the
 * first client meets an app that has loaded its code and reached its database.
 *
 * There is one request at a time, on the probe of ready.c. Nothing blocks.
 *
 * Trust: only the first twelve bytes of the status line are used. The rest of
 *        the response is read and ignored for at most a second, so that the app
 *        can finish it. */

/**
 * Send the request, or read the response. p->ready.probe is connected.
 * @param app NULL: it has left the table. Then the process counts as ready. So
 *            does a process that was started with another protocol
 * @return 1: it is ready
 */
int warmup_check(const spawner_t *s, process_t *p, const app_entry_t *app);

/** "it did not respond to GET /up with 2xx or 3xx (the last was 503)" */
void warmup_missing(const process_t *p, const app_entry_t *app, char text[256]);

/* wrong_port.c: an app boots, does not accept our connection, and listens on a
 * TCP port of its own choice: says so. Nobody connects to that port.
 *
 * It may listen at the right place later, as an app does that opens the port of
 * its metrics first. So the start does not fail because of it. The log says it
 * a second after the start began, and the error says it if the start fails.
 *
 * A helper job looks (job.h), a second after the start began. Each
 * further look comes when the start has taken three times as long. The kernel
 * says which sockets listen (sock_diag.h), and the links in /proc/PID/fd say
 * which process has them. Nothing else of a process is read, and no link is
 * followed.
 *
 * Errors: when no job can be started, that look is left out. What cannot be
 *         read, and what exceeds a maximum, is not found.
 * Crash:  the next spawner looks at once, and logs it again.
 * Trust:  only numbers of ports come from the app. It may have any number of
 *         descriptors, so the number that is read has a limit. A socket that
 *         another process has as well is still the app's. */

#define WRONG_PORT_MAX 8 /**< ports that are named */

typedef struct {
    char ports[WRONG_PORT_MAX *
               sizeof "65535, "];  /**< "port 80", "ports 80, 81",
                                                        "port 80 of ::1"; "":
                                                        there is none */
    char owner[PROCESS_OWNER_MAX]; /**< of the first: "process 4711, ruby" */
} wrong_port_t;

/** Find the ports that the processes of the app listen on. Its own one counts
 * only with an address to which httpd does not connect, such as ::1.
 * For the job, and for tests.
 * @param instance with which the marks of its processes begin */
void wrong_port_find(const process_t *p, const char *instance,
                     wrong_port_t *found);

/** Look if it is time. For a process that boots and does not accept. */
void wrong_port_look(spawner_t *s, process_t *p);

/** It accepts connections now, or ends. */
void wrong_port_forget(process_t *p);

/** Did the last looks find a port? */
int wrong_port_is_known(const process_t *p);

/** Write "LISTENS on TCP port 3000, where httpd does not connect (...), and did
 * not accept connections on descriptor 3". A port is known.
 * @param listens the first words */
void wrong_port_say(const process_t *p, const char *listens, char *text,
                    size_t size);

#endif
