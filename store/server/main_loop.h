/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file main_loop.h
 * @brief The events of the main thread: which function to call when a
 *        descriptor is readable.
 *
 * Lock:  the main thread.
 * Errors: -1 and errno.
 */
#ifndef APPPOOL_STORE_SERVER_MAIN_LOOP_H
#define APPPOOL_STORE_SERVER_MAIN_LOOP_H

/** Before the others. */
int store_loop_begin(void);

/** Call `on_event` when the descriptor is readable, or has ended. It stays the
 * caller's, which calls store_loop_unwatch() before the close. */
int store_loop_watch(int fd, void (*on_event)(void *ctx), void *ctx);

/** No more calls for this descriptor, also not for an event that epoll has
 * reported already. A descriptor that is not watched: nothing. */
void store_loop_unwatch(int fd);

/** Wait for events, and make their calls. @param ms at most */
void store_loop_turn(int ms);

/** Call this when accept() at this listener has failed. If errno names a
 * shortage of descriptors or memory, there is no call for it for 100 ms: the
 * connection stays in the backlog, so the listener is readable all the time.
 * Without a rest the main thread would do nothing else. The log says so, at
 * most once a minute. Other values of errno do nothing. */
void store_loop_shortage(int listener);

#endif
