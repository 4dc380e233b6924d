/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file detect_rule.h
 * @brief Is it true what a rule of the table says of the files that are there?
 */
#ifndef APPPOOL_DETECT_DETECT_RULE_H
#define APPPOOL_DETECT_DETECT_RULE_H

#include "detect/detect_table.h"

#define DETECT_RULE_FILES 16 /* of one rule that are looked at */

/** Is it for this AppProtocol? */
int detect_rule_fits(const detect_rule_t *rule, const detect_config_t *config);

/** @param why filled in if it is not true: a clause, or "" */
int detect_rule_holds(const detect_rule_t *rule, int dir, const char *file,
                      char why[DETECT_WHY]);

/** Is it in a directory of tests or tools, or a test? Where a rule wants the
 * only file of several, it is none of these. */
int detect_rule_is_aside(const char *file);

/**
 * The files of which the rule is true.
 * @param files of DETECT_RULE_FILES paths
 * @param n     filled in: their number
 * @param why   filled in: a clause about the last one of which it is not true
 * @return how many there are, also those of which it is not
 */
size_t detect_rule_files(const detect_rule_t *rule, int dir,
                         char (*files)[DETECT_PATH_MAX], size_t *n,
                         char why[DETECT_WHY]);

#endif
