/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file shortage.h
 * @brief Descriptors or memory have run out, so accept() fails.
 *
 * The connection stays in the backlog, so its listener is readable all the time.
 * Without a rest the main thread would do nothing else.
 *
 * Lock:  none; the main thread.
 */
#ifndef APPPOOL_STORE_SERVER_SHORTAGE_H
#define APPPOOL_STORE_SERVER_SHORTAGE_H

/** Call this when accept() at this listener has failed. If errno names a
 * shortage, the listener rests for a moment (main_loop.h). The log says so, at most
 * once a minute. Other values of errno do nothing. */
void store_shortage(int listener);

#endif
