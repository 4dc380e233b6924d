/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file terminal.h
 * @brief A screen that is drawn again and again, and the keys that are pressed
 *        meanwhile. If standard output is not a terminal, the screens are
 *        printed one after another, and keys are not read.
 *
 * Crash: the terminal is restored when the program exits, also by SIGINT,
 *        SIGTERM and SIGHUP.
 */
#ifndef APPPOOL_CTL_TERMINAL_H
#define APPPOOL_CTL_TERMINAL_H

/** Use the terminal until exit(). */
void terminal_begin(void);

/**
 * Draw the screen: lines of UTF-8, cut to the size of the terminal.
 * @return 0, or -1: errno
 */
int terminal_draw(const char *screen);

/**
 * Wait until the time is over or a key is pressed.
 * @return 0: the time is over, the size of the screen changed, or the key asks
 *         to draw again; 1: the program is to end
 */
int terminal_wait(int milliseconds);

#endif
