/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file httpd_children.h
 * @brief httpd's children: their death gives back what they held.
 *
 * Trust: a slot may name any process; it is only watched.
 */
#ifndef APPPOOL_SPAWNER_LIFE_HTTPD_CHILDREN_H
#define APPPOOL_SPAWNER_LIFE_HTTPD_CHILDREN_H

#include "spawner/state/state.h"

/** Watch those that are new, forget those that left; tell of dead ones. */
void httpd_children_check(spawner_t *s);

#endif
