/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file applog.h
 * @brief The program that writes one AppLog: apppool-spawner, executed once
 *        more (writer.h). The disk of an app may make it wait as long as it
 *        likes.
 *
 * Each message on standard input is some whole lines. The file is opened for
 * each message, so it may be rotated at any time. It ends when its input does.
 *
 * Errors: lines of a file that cannot be opened go to the error log, as many
 *         as that may take. What cannot be written is lost.
 * Trust:  the file may stand in a directory of the app's user (openas.h).
 */
#ifndef APPPOOL_APPLOG_H
#define APPPOOL_APPLOG_H

/** First argument; then the runtime directory, uid, gid and file. */
#define APPLOG_WORD    "--log"
#define APPLOG_PROGRAM "apppool-log"
enum { APPLOG_RUNTIME = 2, APPLOG_UID, APPLOG_GID, APPLOG_FILE, APPLOG_ARGS };

/** Bytes of a message, at the most. */
#define APPLOG_MAX 65536

/** @return exit code */
int applog_main(char **argv);

/** Open an AppLog to append to. @return descriptor, or -1 with errno */
int applog_open(const char *path, unsigned uid, unsigned gid);

#endif
