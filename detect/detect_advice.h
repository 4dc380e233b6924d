/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file detect_advice.h
 * @brief No file of the app gives a command. What would settle it: another
 *        AppRoot, none at all, or a certain AppCommand?
 */
#ifndef APPPOOL_DETECT_DETECT_ADVICE_H
#define APPPOOL_DETECT_DETECT_ADVICE_H

#include "detect/detect_found.h"

/** Add a clause to found->why, if a file in the current directory suggests
 * one. */
void detect_advice_add(detect_found_t *found);

#endif
