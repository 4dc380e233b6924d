/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file kill_children.h
 * @brief Ends children of the caller, and waits for their end within bounds.
 *        libc only.
 *
 * A process that got SIGKILL dies when it runs the next time. On a busy machine
 * it may outlive its parent, and a stop of httpd would leave it behind. The
 * caller's heart beats meanwhile.
 *
 * Lock:  one thread.
 * Crash: the children got SIGKILL; the next subreaper reaps them.
 */
#ifndef APPPOOL_SYSTEM_KILL_CHILDREN_H
#define APPPOOL_SYSTEM_KILL_CHILDREN_H

#include <sys/types.h>

/**
 * Send SIGKILL to these children, and reap them. A child that waits in the
 * kernel may never run again: it is left alone after 100 ms, and any other one
 * after a second.
 * @param children pids, none of them reaped yet; the array is changed
 */
void kill_children(pid_t *children, int n);

#endif
