/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file heartbeat.h
 * @brief A program touches a file again and again. Its supervisor sees from
 *        that whether the program still runs. libc only.
 *
 * The heartbeat is the time of last modification of a file in the runtime
 * directory, so it needs no room on a full disk. Each program makes a new file,
 * so a program that was replaced cannot touch the file of the next one. If no
 * file can be made, the program uses the file of the last program.
 *
 * The supervisor counts its own checks, not seconds: while a machine is
 * suspended there are no checks, so no program is killed for that.
 *
 * Lock:  one thread.
 * Errors: if there is neither a new file nor an old one, there is no heartbeat
 *        (heartbeat_t.inode 0). Then the supervisor cannot say that the
 *        program hangs.
 * Trust: root's file in root's directory.
 */
#ifndef APPPOOL_BASE_HEARTBEAT_H
#define APPPOOL_BASE_HEARTBEAT_H

#include <stdint.h>
#include <sys/types.h>

/** What the supervisor has seen. Zeroed at first. */
typedef struct {
    ino_t inode; /**< of the program's file; 0: it has none */
    int64_t s, ns;
    int silent; /**< checks in a row that found no new heartbeat */
} heartbeat_t;

/** Make the file and touch it for the first time. */
void heartbeat_begin(int dirfd, const char *name);

/** In a forked child: it does not touch the file of its parent. */
void heartbeat_forget(void);

/** The program runs. May be called often: it touches once a second. */
void heartbeat(void);

/** Check for a new heartbeat. @return p->silent */
int heartbeat_check(heartbeat_t *p, int dirfd, const char *name);

#endif
