/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file directives.h
 * @brief The directives: names, places, ranges, and what is said of a wrong
 *        value: one sentence with the directive, the value and what is
 *        allowed. One table; values go to config.h's structs.
 *
 * What can be told from a value alone is refused here, while the
 * configuration is read; what takes more (the file system, other directives)
 * is app.h's to check.
 *
 * Lock:  none.
 * Crash: not concerned.
 * Trust: values are root's, but may be any bytes.
 */
#ifndef MOD_APPPOOL_CONFIG_DIRECTIVES_H
#define MOD_APPPOOL_CONFIG_DIRECTIVES_H

#include "mod_apppool/config/config.h"

extern const command_rec apppool_directives[];

#endif
