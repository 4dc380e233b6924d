/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file detect_explain.h
 * @brief Says which files could have decided, why none gives a command, and
 *        which line of the configuration would settle it. It looks at the
 *        current directory.
 */
#ifndef APPPOOL_DETECT_DETECT_EXPLAIN_H
#define APPPOOL_DETECT_DETECT_EXPLAIN_H

#include "detect/detect_found.h"
#include "detect/detect_table.h"

/** Fill in found->candidates, in the order of the rules.
 * @param winner NULL: there is none */
void detect_explain_all(detect_found_t *found, const detect_config_t *config,
                        const detect_rule_t *winner);

/** Write found->why: the nearest files, what they lack, and what settles it.
 * @param other a file for another AppProtocol; "": there is none */
void detect_explain_none(detect_found_t *found, const detect_config_t *config,
                         const char *other);

#endif
