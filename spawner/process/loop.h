/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file loop.h
 * @brief The loop of the spawner: it waits for descriptors, and calls the
 *        function of each that is ready. The spawner sleeps nowhere else.
 *
 * When it has worked for more than a sixth of the time, apart from bursts, it
 * rests, whatever the work was.
 *
 * The memory of a source is its owner's, and must stay until loop_call() has
 * returned, because loop_call() skips a source that another callback has
 * dropped.
 */
#ifndef APPPOOL_SPAWNER_PROCESS_LOOP_H
#define APPPOOL_SPAWNER_PROCESS_LOOP_H

#include <stdint.h>
#include <sys/epoll.h>

typedef void loop_ready_t(void *owner, uint32_t events);

/** A descriptor that the loop watches. If it does not: zeroed, with fd -1. */
typedef struct {
    int fd;
    loop_ready_t *ready;
    void *owner;
} loop_source_t;

/** @return 0, or -1 with errno */
int loop_open(void);

/**
 * Watch a descriptor, which then belongs to the source.
 * @return 0; -1: it could not be watched and was closed
 */
int loop_add(loop_source_t *source, int fd, uint32_t events,
             loop_ready_t *ready, void *owner);

/** Ask for other events. */
void loop_change(loop_source_t *source, uint32_t events);

/** Stop watching it. The caller owns the descriptor again.
 * @return the descriptor; -1: there was none */
int loop_release(loop_source_t *source);

/** Do not watch it until loop_resume(). Not even its end is seen. */
void loop_pause(loop_source_t *source);

/** Watch it again, for input. @return 0; -1 with errno: try again later */
int loop_resume(loop_source_t *source);

/** Stop watching it and close it. If there is none, nothing happens. */
void loop_drop(loop_source_t *source);

/** Sleep for at most `ms`, until a descriptor is ready. A loop that works all
 * the time sleeps before that, so that a flood of any kind costs only a part of
 * a core. */
void loop_wait(int ms);

/** Call the function of each source whose descriptor is ready. */
void loop_call(void);

#endif
