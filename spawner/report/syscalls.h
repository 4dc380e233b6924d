/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file syscalls.h
 * @brief Names of the system calls that processes wait in. libc only.
 */
#ifndef APPPOOL_SPAWNER_REPORT_SYSCALLS_H
#define APPPOOL_SPAWNER_REPORT_SYSCALLS_H

/** @return NULL: the name is not known */
const char *syscalls_name(long number);

#endif
