/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file store_command.h
 * @brief apppoolctl store WORD. Some words ask the spawner for its report
 *        (store_status.h). keys and flush ask a space over its own socket, in
 *        the text protocol of memcached, as an app does: root may connect to
 *        each space, and any other user to those of its apps. handover and
 *        forget ask the store itself, as root.
 *
 * Errors: an exit status; the reason was printed.
 * Trust:  the store may answer anything. Texts are printed without control
 *         characters. A store that is too slow is given up.
 */
#ifndef APPPOOL_CTL_STORE_COMMAND_H
#define APPPOOL_CTL_STORE_COMMAND_H

/** All but `store top`.
 * @param dir   of httpd; NULL: as ask_directory() finds it
 * @param raw   1: print JSON
 * @param words behind "store"; NULL after the last one */
int store_command(const char *dir, int raw, const char *const *words, int n);

#endif
