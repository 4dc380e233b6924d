/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file log_program.h
 * @brief The program that writes one log of apps: apppool-spawner, executed
 *        once more (log_writer.h). A disk, or the reader of a pipe, may make it
 *        wait as long as it likes.
 *
 * A route says where the lines go:
 *
 *     /var/log/shop.log        AppLog: a file, as the app's user
 *     |rotatelogs ...          AppLog: a command (piped_log.h)
 *     =/proc/PID/fd/N DEV:INO  the ErrorLog of a virtual host: the file or pipe
 *                              that httpd's parent PID has open there
 *     =syslog:FACILITY:TAG     the same, where that is syslog (to_syslog.h)
 *
 * Each message on standard input is some whole lines. A file is opened for
 * each message, so it may be rotated at any time. SIGHUP: httpd was reloaded,
 * and a command ends after the line that it is being written, however many
 * there are; the next line starts it anew. The program ends when its input
 * does.
 *
 * Errors: lines of a file that cannot be opened go to the error log, as many
 *         as that may take. What cannot be written is lost.
 * Trust:  the file may stand in a directory of the app's user (open_as.h). The
 *         number of a descriptor may stand for another file by now, so device
 *         and inode are compared.
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

/** The format: lines begin with time and process, or are as the app printed
 * them. */
#define LOG_PROGRAM_PREFIXED "prefixed"
#define LOG_PROGRAM_RAW      "raw"

/** First byte of a route: a command; the ErrorLog of a virtual host. */
#define LOG_PROGRAM_PIPE     '|'
#define LOG_PROGRAM_ERRORLOG '='

/** Bytes of a message, at the most. */
#define LOG_PROGRAM_MAX      65536

/** @return exit code */
int log_program_main(char **argv);

/** Open an AppLog to append to. @return descriptor, or -1 with errno */
int log_program_open(const char *path, unsigned uid, unsigned gid);

#endif
