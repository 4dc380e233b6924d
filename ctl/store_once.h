/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file store_once.h
 * @brief apppoolctl store once: runs a command on one host of a cluster.
 *
 * A lock of the store is held while the command runs. The store also remembers
 * for some time that a run began, because the hosts do not start their commands
 * in the same moment, and the first one may have ended already.
 *
 * Errors: an exit status; the reason was printed.
 */
#ifndef APPPOOL_CTL_STORE_ONCE_H
#define APPPOOL_CTL_STORE_ONCE_H

#include "ctl/asked.h"

/** The exit status when the store does not respond: the command has not run.
 * (EX_UNAVAILABLE of sysexits.h, as with flock.) */
#define STORE_ONCE_UNAVAILABLE 69

/** The words of `q` are "store", "once", the name of the lock, the command and
 * its arguments.
 * @return the exit status of the command; or that of `--conflict-exit-code` if
 * it is not run */
int store_once(const char *dir, const asked_t *q);

#endif
