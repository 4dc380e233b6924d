/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file panic.h
 * @brief A root process that finds its own data inconsistent stops at once.
 *        libc only.
 *
 * PANIC_UNLESS() is for a condition that only a mistake of ours can break.
 * Input from an app, a client, a child of httpd or a file is checked. It is
 * never a reason to stop. PANIC_UNLESS() is always compiled in.
 *
 * Errors: the file, the line and the condition go to stderr, then abort().
 *         Stderr is a file (stderr_file.h), whose last line the supervisor
 *         writes to the error log.
 * Crash:  the watchdog starts the spawner again. httpd's parent starts the
 *         watchdog again.
 */
#ifndef APPPOOL_BASE_PANIC_H
#define APPPOOL_BASE_PANIC_H

#include <stdio.h>
#include <stdlib.h>

_Noreturn static inline void panic_at(const char *file, int line,
                                      const char *condition)
{
    fprintf(stderr, "%s:%d: it must hold that %s\n", file, line, condition);
    abort();
}

#define PANIC_UNLESS(condition)                                                \
    ((condition) ? (void)0 : panic_at(__FILE__, __LINE__, #condition))

#endif
