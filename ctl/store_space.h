/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file store_space.h
 * @brief Asks a space of the store over its own socket, in the text protocol of
 *        memcached, as an app does. Root may connect to each space, and any
 *        other user to those of its apps.
 *
 * Errors: an exit status; the reason was printed.
 * Trust:  the store may answer anything. Texts are printed without control
 *         characters. A store that is too slow is given up (store_lines.h).
 */
#ifndef APPPOOL_CTL_STORE_SPACE_H
#define APPPOOL_CTL_STORE_SPACE_H

/**
 * Print the keys of a space, one a line, with bytes and seconds to live.
 * @param dir    the runtime directory
 * @param prefix only keys that begin like this; NULL: all
 * @param raw    1: one JSON object a line
 */
int store_space_keys(const char *dir, const char *space, const char *prefix,
                     int raw);

/** Remove all items of a space. */
int store_space_flush(const char *dir, const char *space, int raw);

#endif
