/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file terminal.h
 * @brief A screen that is drawn again and again, and the keys that are pressed
 *        meanwhile. Where standard output is no terminal, one screen follows
 *        the other; then no key is looked for.
 *
 * Crash: the terminal is put right when the program exits, also by SIGINT,
 *        SIGTERM and SIGHUP.
 */
#ifndef APPPOOL_CTL_TERMINAL_H
#define APPPOOL_CTL_TERMINAL_H

/** Take the terminal over, until exit(). */
void terminal_begin(void);

/**
 * Draw it: lines of UTF-8, of which as many and as much are shown as fit.
 * @return 0, or -1: errno
 */
int terminal_draw(const char *screen);

/**
 * Let time pass, until a key is pressed.
 * @return 0: it has passed, or the screen has another size, or it was a key
 *         that is to draw it anew; 1: it is to end
 */
int terminal_wait(int milliseconds);

#endif
