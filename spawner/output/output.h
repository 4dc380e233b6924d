/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file output.h
 * @brief What apps, the store and children of httpd print, and where it goes. A
 *        part for each file of the folder.
 */
#ifndef APPPOOL_SPAWNER_OUTPUT_OUTPUT_H
#define APPPOOL_SPAWNER_OUTPUT_OUTPUT_H

#include <jansson.h>
#include <stddef.h>
#include <sys/types.h>

#include "spawner/process/state.h"
#include "system/log.h"
#include "base/token_bucket.h"

/* output.c: copies what apps write to stdout and stderr into their AppLog or
 * httpd's error log, line by line. While an app boots, the last lines are kept
 * (last_lines.c).
 *
 *     [time] shop[4711]> text
 *
 * The output is a FIFO that the process itself has open for reading and
 * writing. So it never gets SIGPIPE, and the next spawner reads on.
 *
 * Each process has a token bucket. When it is empty, lines are dropped, and the
 * FIFO of the process is not read for a moment. The log says how many lines
 * were dropped, at the latest when nothing of the process is left.
 *
 * Errors: output that cannot be written is lost. Nothing waits for a log.
 * Crash:  lines that were not written yet are lost.
 * Trust:  the app may print any bytes. Control characters are escaped. A line
 *         is cut off after 8 KB, or after 64 KB if lines are raw, and its end
 *         says so. */

/** Free all memory. */
void output_forget(output_t *output);

/**
 * Read the FIFO and write the lines to the log.
 * @return 0: no process has the FIFO open any more
 */
int output_read(process_t *p);

/**
 * Lines that the process has printed in another way, each with its newline. If
 * one is too much, so are those after it.
 * @param logged 1: they are in a log, so they are only kept
 */
void output_add(process_t *p, const char *text, size_t length, int logged);

/** Read what is left. A last line that has no newline is written as well. */
void output_finish(process_t *p);

/** Nothing prints any more: the same, and log what was dropped. */
void output_end(spawner_t *s, process_t *p);

/** From now on, the output takes this route (log_program.c); NULL: to the error
 * log.
 * @param raw 1: lines are written as the app prints them */
void output_to(process_t *p, const char *route, int raw, const char *format);

/** Do what is due: read again after a pause, log what was dropped. */
void output_tick(spawner_t *s, process_t *p);

/* log_program.c: the program that writes one log of apps: apppool-spawner,
 * executed once more (log_writer.c). A disk, or the reader of a pipe, may make
 * this program wait for any time. The spawner never waits for them.
 *
 * A route says where the lines go:
 *
 *     /var/log/shop.log        AppLog: a file, as the app's user
 *     |rotatelogs ...          AppLog: a command
 *     =/proc/PID/fd/N DEV:INO  the ErrorLog of a virtual host: the file or pipe
 *                              that httpd's parent PID has open there
 *     =syslog:FACILITY:TAG     the ErrorLog of a virtual host, if that is
 *                              syslog (to_syslog.h)
 *
 * Each message on standard input has one or more whole lines. A file is opened
 * for each message, so it may be rotated at any time. SIGHUP means that httpd
 * was reloaded: a command then ends after the line that is being written, even
 * if more lines wait. The next line starts it again. The program ends at the
 * end of its input.
 *
 * Errors: if a file cannot be opened, its lines go to the error log, within the
 *         limits of that log. Lines that cannot be written are lost, and the
 *         error log says how many:
 *         AppLog /var/log/shop.log: 12 lines dropped: No space left on device
 * Trust:  the command is the administrator's. The file may be in a directory of
 *         the app's user (open_as.c). The number of a descriptor may belong to
 *         another file by now, so device and inode are compared. */

/** First argument; then the runtime directory, uid, gid, route and format. */
#define LOG_PROGRAM_WORD "--log"
enum {
    LOG_PROGRAM_RUNTIME = 2,
    LOG_PROGRAM_UID,
    LOG_PROGRAM_GID,
    LOG_PROGRAM_ROUTE,
    LOG_PROGRAM_FORMAT,
    LOG_PROGRAM_ARGS
};

/** The format. Prefixed lines begin with time and process. Raw lines are as the
 * app printed them. */
#define LOG_PROGRAM_PREFIXED "prefixed"
#define LOG_PROGRAM_RAW      "raw"

/** Maximum bytes of a message. */
#define LOG_PROGRAM_MAX      65536

/** ms: a turn of a loop that waits for the end of a writer takes less, also
 * under load (clock_ms_turn()). */
#define LOG_TURN             250

/** @return exit code */
int log_program_main(char **argv);

/** Open an AppLog to append to. @return descriptor, or -1 with errno */
int log_program_open(const char *path, unsigned uid, unsigned gid);

/* last_lines.c: the last lines that an app has printed, while it boots: at most
 * 20, in 4 KB. They say why a start has failed. The message of a stack trace
 * stays longer than its frames.
 *
 * Errors: without memory, no line is kept.
 * Trust:  the app may print any bytes. They are kept as they are, with a blank
 *         for NUL. A line takes little time, so those that no log takes are
 *         kept, too: the reason often comes after a flood. */

/** From now on, keep the last lines. */
void last_lines_keep(output_t *o);

/** A line without its newline, if lines are kept. */
void last_lines_add(output_t *o, const char *line, size_t length);

/** Is this a line of a stack trace, but not its message? In most languages it
 * is indented. What stands around a stack trace counts as well. The line ends
 * with a newline or NUL. */
int last_lines_is_frame(const char *line);

/** Forget the lines that are kept, and keep no more. */
void last_lines_forget(output_t *o);

/* recent_output.c: the last 16 KB that each app printed, for apppoolctl logs.
 * It does not matter to which log the lines go.
 *
 * So a user sees the lines of the apps that run as that user, and no others.
 * This works even if the lines go to an error log that only root may read, and
 * no file is read with root's rights for it. When a process of another user
 * prints its first line, the older lines are forgotten.
 *
 * Errors: if there is no memory, lines are missing.
 * Crash:  the next spawner begins again, with other numbers.
 * Trust:  the lines come from the app. They have no control characters. */

/** A process has printed this line: the result of log_format_escape(), without
 * a newline. */
void recent_output_add(const process_t *p, const char *line, size_t length);

/**
 * The lines of an app that are kept, beginning with the number `from`.
 * @param only lines of processes of this user; USERDB_NOBODY: all lines
 * @return {"first": number of the first one, "next": number of the next line
 *         that will come, "lines": [...]}
 */
json_t *recent_output_lines(const char *app, uint64_t from, uid_t only);

/** Forget the apps that are not in the table. */
void recent_output_sweep(const spawner_t *s);

/* app_log.c: lines about one app: in the error log of the main server, and a
 * copy where the app's output goes.
 *
 *     [...] [apppool:error] [pid 12] apppool: shop[4711] died: ...
 *
 * So the administrator of the server has one place for all lines. The
 * administrator of a virtual host reads the lines about its app beside the
 * output of the app. In an error log, the copy is the same line. In an AppLog,
 * it has the same time and text ("[...] shop[4711] died: ..."). An AppLog whose
 * format is raw gets no copy, because the program that reads it may understand
 * only what the app prints. If a line of the main log is dropped (log.h), so is
 * its copy.
 *
 * Errors: there is no copy while the user that has to open an AppLog is not
 *         known.
 * Trust:  the copy goes through the same child as the output (log_writer.c).
 *         Output of the app has "> " behind the name. A line about the app does
 *         not. Reports (stuck_report.c) are not copied: only root may see
 *         stacks of the kernel. */

/** A line about a process. It begins with the name; the format is the rest. */
#define app_log(process, level, ...)                                           \
    do {                                                                       \
        static log_kind_t app_log_kind_;                                       \
        app_log_of(&app_log_kind_, process, level, __VA_ARGS__);               \
    } while (0)

/** A line about an app. The format has to contain the name. */
#define app_log_about(app, level, ...)                                         \
    do {                                                                       \
        static log_kind_t app_log_kind_;                                       \
        app_log_about_of(&app_log_kind_, app, level, __VA_ARGS__);             \
    } while (0)

void app_log_of(log_kind_t *kind, const process_t *p, int level,
                const char *format, ...) __attribute__((format(printf, 4, 5)));

/** @param a may be NULL: then there is no copy */
void app_log_about_of(log_kind_t *kind, const app_entry_t *a, int level,
                      const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* log_writer.c: the spawner's side of an AppLog: a child (log_program.c) for
 * each route. A route to a file has one child for each user. The spawner sends
 * lines to the child and never waits for it.
 *
 * The child starts with the first line. It ends when no process of an app has
 * needed it for five seconds, when httpd stops, or when the spawner is dead. It
 * writes all lines that it has got until then.
 *
 * Errors: lines that the child does not take in time are dropped, and the error
 *         log says how many, at the latest when the spawner ends. What a child
 *         that was killed has not read waits for the next child. What it was
 *         writing is lost.
 * Crash:  the child writes the lines that it was sent, and ends. The next
 *         spawner starts a child of its own. */

typedef struct writer log_writer_t;

/** Can lines be sent now? A file is opened as the app's user, so that user must
 * be known.
 * @param uid of the app; USERDB_NOBODY: not known yet */
int log_writer_can_send(const char *route, uid_t uid);

/**
 * The writer of this route (log_program.c), for one more user of it.
 * @param raw 1: lines are as the app printed them
 * @param uid, gid of the app, for a file
 * @return NULL: no memory
 */
log_writer_t *log_writer_get(const char *route, int raw, uid_t uid, gid_t gid);

/** The opposite of log_writer_get(). NULL: nothing happens. */
void log_writer_put(log_writer_t *w);

/** Send `n` whole lines: at most LOG_PROGRAM_MAX bytes. */
void log_writer_send(log_writer_t *w, const char *lines, size_t length,
                     unsigned n);

/** A child that is dead and not reaped yet: it may be one of these. */
void log_writer_reap(pid_t pid);

/** httpd was reloaded: end the commands. The next line starts them again. */
void log_writer_reload(void);

/** Log what was dropped, and end the children that are not needed. */
void log_writer_tick(spawner_t *s);

/** The spawner ends: the children have this time to write what they were
 * sent. */
void log_writer_stop(int ms);

/* log_rules.c: what the spawner and the program of a log (log_program.c) agree
 * on: how a route begins, what it is called in a line of the error log, and how
 * much an app may print there.
 *
 * Crash:  the token bucket is full again in the next spawner. */

/** First byte of a route: a command; the ErrorLog of a virtual host. */
#define LOG_PROGRAM_PIPE     '|'
#define LOG_PROGRAM_ERRORLOG '='

typedef char log_name_t[512];

/** @return `name` */
const char *log_rules_name(const char *route, log_name_t name);

/** Maximum bytes of a line in the log, with time and name. */
#define LOG_RULES_LINE_MAX (4 * 8192 + 256)

/** May a line of this length be written now? Takes its cost from the bucket.
 * Into an error log an app may print less, because all apps share that.
 * @param own    1: the line goes to AppLog; 0: to an error log
 * @param now    us
 * @param length bytes */
int log_rules_allow(token_bucket_t *bucket, int own, int64_t now,
                    size_t length);

/* app_stderr.c: lines that apps have sent to children of httpd as STDERR of
 * FastCGI: they go where the output of their process goes.
 *
 * Without AppLog, a child of httpd has written them to the error log of the
 * virtual host, with the client of the request. Then they are only kept for
 * apppoolctl logs.
 *
 * Errors: lines of a process that is gone go to the error log, with the id of
 *         the process. If they are too many, the log says how many were
 *         dropped.
 * Crash:  shm/verbs/app_stderr.h.
 * Trust:  a child of httpd may forge lines of any process. The process has its
 *         token bucket for them, as for its own output. */

/** Take those that wait: in each turn, before processes are reaped. */
void app_stderr_take(spawner_t *s);

/* store_log.c: copies what the store logs to httpd's error log.
 *
 *     [time] [apppool:notice] [pid 12] apppool: store: text
 *
 * The store writes lines to the FIFO CONTRACT_STORE_LOG. A line may begin with
 * a level in angle brackets, <3> for an error to <6> for an info; without one
 * it is a notice. httpd's parent makes the FIFO before it writes the app table.
 *
 * Crash:  lines in the FIFO stay while the store lives, and the next spawner
 *         reads them.
 * Trust:  the store may write any bytes. Control characters are escaped, a line
 *         is cut off after LOG_MAX bytes, and too many lines are dropped
 *         (log.h). */

/** Read the FIFO from now on, if there is one. May be called again. */
void store_log_open(const spawner_t *s);

/* open_as.c: opens a file of an app for a process of root's. It uses the rights
 * of the app's user, if they suffice, and else those of root.
 *
 * Errors: -1 with errno. With root's rights: ELOOP: there is a symbolic link on
 *         the path; EPERM: it is not a plain file that has one name only.
 * Trust:  the file may be in a directory of the app's user. That user can put
 *         links there to files that only root may open. So the first try has
 *         the rights and the groups of that user. With root's rights, no
 *         symbolic link is followed, and the file must be a plain one that has
 *         one name only. */

/**
 * The process must have the groups of that user already. This does not wait for
 * the other end of a FIFO.
 * @param flags   of open(2)
 * @param uid     0 or USERDB_NOBODY: root only
 * @param as_root NULL; or set to 1 if root's rights were needed
 */
int open_as(const char *path, int flags, mode_t mode, uid_t uid, gid_t gid,
            int *as_root);

#endif
