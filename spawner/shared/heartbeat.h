/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file heartbeat.h
 * @brief A program beats, and the one that supervises it sees whether it still
 *        does. libc only.
 *
 * The beat is the time of last modification of a file in the runtime
 * directory, so it needs no room on a disk that is full. Each program makes its
 * file anew, so one that was replaced cannot beat for the next one. Where no
 * file can be made, it goes on with the file of the one before it.
 *
 * The supervisor counts its own looks, not seconds: a machine that was
 * suspended as a whole has not looked meanwhile, and nobody is blamed for that.
 *
 * Lock:  none; one thread.
 * Errors: where there is neither a new file nor an old one, there is no beat
 *        (heartbeat_t.inode 0): the supervisor cannot say that the program
 *        hangs.
 * Trust: root's file in root's directory.
 */
#ifndef APPPOOL_SPAWNER_SHARED_HEARTBEAT_H
#define APPPOOL_SPAWNER_SHARED_HEARTBEAT_H

#include <stdint.h>
#include <sys/types.h>

/** What the supervisor has seen. Zeroed at first. */
typedef struct {
    ino_t inode; /**< of the program's file; 0: it has none */
    int64_t s, ns;
    int silent; /**< looks in a row that found no new beat */
} heartbeat_t;

/** Make the file and beat for the first time. */
void heartbeat_begin(int dirfd, const char *name);

/** In a forked child: it does not beat for its parent. */
void heartbeat_forget(void);

/** The program gets on. May be called often: it beats once a second. */
void heartbeat(void);

/** Look for a new beat. @return p->silent */
int heartbeat_check(heartbeat_t *p, int dirfd, const char *name);

#endif
