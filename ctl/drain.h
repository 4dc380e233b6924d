/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file drain.h
 * @brief apppoolctl drain --wait: an app was drained; when is none of its
 *        processes left?
 */
#ifndef APPPOOL_CTL_DRAIN_H
#define APPPOOL_CTL_DRAIN_H

/**
 * Look once a second.
 * @param answer the server's to "drain"
 * @param raw    1: say nothing when it is over
 * @return EXIT_OK: none is left; EXIT_NO: the app was put back to work, or
 *         httpd was started anew; EXIT_NOT_RUNNING: nobody has answered for
 *         half a minute
 */
int drain_wait(const char *dir, const char *answer, int raw);

#endif
