/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file stop_signal.h
 * @brief Has SIGTERM come, and when? From then on the store has
 *        AppStoreSaveTime and CONTRACT_STORE_REST to end. What takes long
 *        outside of the loop asks for that again and again, so that the time of
 *        the answer is right.
 *
 * Lock:  the main thread.
 */
#ifndef APPPOOL_STORE_SERVER_STOP_SIGNAL_H
#define APPPOOL_STORE_SERVER_STOP_SIGNAL_H

#include <stdint.h>

/** Ask for the first time. @param fd a signalfd that never blocks */
void store_stop_signal_begin(int fd);

/** @return ms, of clock_ms(): when this was first asked after it came; 0: it
 *         has not come. Each call is a system call */
int64_t store_stop_signal_at(void);

/** Has it come? */
int store_stop_signal_came(void);

/** For what takes long and ends later in any case: a heartbeat, and a look. */
void store_stop_signal_progress(void);

/** Usually the watchdog sends SIGTERM. It may have been killed with httpd: has
 * the store to stop because both are gone, and all apps had time to end? To be
 * asked each second. */
int store_stop_signal_is_orphan(int64_t now);

#endif
