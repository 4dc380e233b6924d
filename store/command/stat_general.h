/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file stat_general.h
 * @brief The lines of `stats` and of `stats settings`.
 *
 * Lock:  none.
 */
#ifndef APPPOOL_STORE_COMMAND_STAT_GENERAL_H
#define APPPOOL_STORE_COMMAND_STAT_GENERAL_H

#include "store/command/stat_line.h"

void store_stat_general(const store_stat_out_t *);
void store_stat_general_settings(const store_stat_out_t *);

#endif
