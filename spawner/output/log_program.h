/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file log_program.h
 * @brief The program that writes one log of apps: apppool-spawner, executed
 *        once more (log_writer.h). A disk, or the reader of a pipe, may make
 *        this program wait for any time. The spawner never waits for them.
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
 *         the app's user (open_as.h). The number of a descriptor may belong to
 *         another file by now, so device and inode are compared.
 */
#ifndef APPPOOL_SPAWNER_OUTPUT_LOG_PROGRAM_H
#define APPPOOL_SPAWNER_OUTPUT_LOG_PROGRAM_H

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

/** @return exit code */
int log_program_main(char **argv);

/** Open an AppLog to append to. @return descriptor, or -1 with errno */
int log_program_open(const char *path, unsigned uid, unsigned gid);

#endif
