/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file top.h
 * @brief apppoolctl top: the pool as it is now, again and again: its apps, and
 *        the open requests, longest first.
 *
 * Trust: missing keys are shown as "-"; texts are printed without control
 *        characters.
 */
#ifndef APPPOOL_CTL_TOP_H
#define APPPOOL_CTL_TOP_H

/**
 * Show it until q is pressed.
 * @param raw   a JSON object on a line each time
 * @param delay between two updates, ms
 * @param times end after this many updates; 0: no limit
 * @return the exit status
 */
int top_show(const char *dir, int raw, int delay, long times);

#endif
