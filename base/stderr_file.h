/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file stderr_file.h
 * @brief The stderr of watchdog and spawner is a file of the runtime
 *        directory. panic.h, glibc and sanitizers write the reason for an
 *        abort there. The watchdog reads the file of the spawner. httpd's
 *        parent reads the file of the watchdog. libc only.
 *
 * Crash: the file stays when its reader dies.
 * Trust: root's file, but its text may contain any bytes.
 */
#ifndef APPPOOL_BASE_STDERR_FILE_H
#define APPPOOL_BASE_STDERR_FILE_H

#define STDERR_FILE_MAX 256

/** Make the file, or empty it. @return descriptor, or -1 */
int stderr_file_open(int dirfd, const char *name);

/**
 * The most useful line: a sanitizer's summary, or else the last line.
 * @return ": ..." for the end of a sentence, which is buf; or ""
 */
const char *stderr_file_read(int dirfd, const char *name,
                             char buf[STDERR_FILE_MAX]);

#endif
