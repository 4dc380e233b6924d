/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file directives.h
 * @brief The directives: names, places, ranges. An error in a value is one
 *        sentence with the directive, the value and what is allowed. One table;
 *        the values go to the structs of config.h.
 *
 * A mistake that the value alone shows is refused here, while the configuration
 * is read. app_resolve.h makes the checks that need more (the file system,
 * other directives).
 *
 * Trust: values are root's, but may be any bytes.
 */
#ifndef MOD_APPPOOL_CONFIG_DIRECTIVES_H
#define MOD_APPPOOL_CONFIG_DIRECTIVES_H

#include "mod_apppool/config/config.h"

extern const command_rec apppool_directives[];

#endif
