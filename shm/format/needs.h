/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file needs.h
 * @brief What mod_apppool needs. If something is missing, the build ends here
 *        with the reason. configure reads this file, too.
 */
#ifndef APPPOOL_SHM_FORMAT_NEEDS_H
#define APPPOOL_SHM_FORMAT_NEEDS_H

#ifndef __cppcheck__ /* it reads no headers of the system */

#ifndef __linux__
#error mod_apppool needs Linux: the pool uses futexes, pidfds and sealed memfds
#endif

/* The time of a raw futex is two 64-bit words here. On a 32-bit machine it is
 * two 32-bit words, whatever time_t is. */
#if __SIZEOF_LONG__ != 8
#error mod_apppool needs a 64-bit system: its shared memory has 64-bit words
#endif

#include <features.h>
#include <sys/syscall.h>

#ifndef __GLIBC_PREREQ
#error mod_apppool needs glibc: the lock follows the robust lists of glibc
#elif !__GLIBC_PREREQ(2, 34)
#error mod_apppool needs glibc 2.34 or later: older ones have no close_range()
#endif

#if !defined SYS_pidfd_open || !defined SYS_close_range || !defined SYS_openat2
#error mod_apppool needs the headers of Linux 5.9 or later
#endif

#endif
#endif
