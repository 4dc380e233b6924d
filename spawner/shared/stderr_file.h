/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file stderr_file.h
 * @brief What a process said before it died: its stderr is a file of the
 *        runtime directory, where glibc, assert() and sanitizers leave the
 *        reason for an abort. libc only: httpd's parent reads the watchdog's,
 *        the watchdog the spawner's.
 *
 * Crash: the file outlives whoever wants to read it.
 * Trust: root's file; but what stands there may hold any bytes.
 */
#ifndef APPPOOL_SPAWNER_SHARED_STDERR_FILE_H
#define APPPOOL_SPAWNER_SHARED_STDERR_FILE_H

#define STDERR_FILE_MAX 256

/** Make the file, or empty it. @return descriptor, or -1 */
int stderr_file_open(int dirfd, const char *name);

/**
 * The line that says most: a sanitizer's summary, or the last one.
 * @return ": ..." for the end of a sentence, which is buf; or ""
 */
const char *stderr_file_read(int dirfd, const char *name,
                             char buf[STDERR_FILE_MAX]);

#endif
