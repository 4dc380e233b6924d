/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file listener.h
 * @brief A control socket that listens: control.sock, or that of a user.
 *
 * Errors: a socket that cannot be made, on a full disk for example, is logged
 *         once. Its owner calls listener_open() again each second, and the log
 *         says when it is there.
 * Crash:  the path stays. The next spawner removes it.
 * Trust:  the directory belongs to the spawner's user.
 */
#ifndef APPPOOL_SPAWNER_CONTROL_LISTENER_H
#define APPPOOL_SPAWNER_CONTROL_LISTENER_H

#include <sys/types.h>

#include "spawner/process/loop.h"

typedef struct {
    loop_source_t source; /**< fd -1: it does not listen */
    int failed;           /**< and the log says so */
} listener_t;

#define LISTENER_PATH 108 /**< bytes of a path, its 0 included: unix(7) */
#define LISTENER_NONE                                                          \
    {                                                                          \
        .source = {.fd = -1 }                                                  \
    }

/**
 * Bind and listen with mode 0600; nothing if it listens already.
 * @param user owner of the socket; (uid_t)-1: the spawner's own user
 * @param backlog connections that wait, at most
 * @param accept called with the socket's loop_source_t as its owner
 * @return 0; -1: not now
 */
int listener_open(listener_t *l, const char *path, uid_t user, int backlog,
                  loop_ready_t *accept);

/** Log once that the socket cannot be made. @param error errno
 * @return -1 */
int listener_failed(listener_t *l, const char *path, int error);

#endif
