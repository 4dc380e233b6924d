/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file children.h
 * @brief httpd's children: their death gives back what they held.
 *
 * Trust: a slot may name any process; it is only watched.
 */
#ifndef APPPOOL_CHILDREN_H
#define APPPOOL_CHILDREN_H

#include "spawner/state.h"

/** Watch those that are new, forget those that left; tell of dead ones. */
void children_look(spawner_t *s);

#endif
