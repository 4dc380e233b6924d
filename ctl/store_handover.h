/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file store_handover.h
 * @brief apppoolctl store handover: the master sends all changes to its slaves,
 *        and serves nothing until the address has moved. apppoolctl store
 *        forget: a slave does not keep its own data.
 *
 * Errors: an exit status; the reason was printed.
 */
#ifndef APPPOOL_CTL_STORE_HANDOVER_H
#define APPPOOL_CTL_STORE_HANDOVER_H

/** @return EXIT_OK: all slaves have all changes */
int store_handover(const char *dir, int raw);

/** @return EXIT_OK: the slave takes the copy of any master */
int store_forget(const char *dir, int raw);

#endif
