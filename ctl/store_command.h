/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file store_command.h
 * @brief apppoolctl store WORD: which words there are, and what follows them.
 *
 * Errors: an exit status; the reason was printed.
 */
#ifndef APPPOOL_CTL_STORE_COMMAND_H
#define APPPOOL_CTL_STORE_COMMAND_H

#include "ctl/asked.h"

/** All but `store top`. */
int store_command(const asked_t *);

#endif
