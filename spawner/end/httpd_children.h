/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file httpd_children.h
 * @brief Watches httpd's children. When one dies, its sessions are given back.
 *
 * Trust: a slot may name any process. That process is only watched.
 */
#ifndef APPPOOL_SPAWNER_END_HTTPD_CHILDREN_H
#define APPPOOL_SPAWNER_END_HTTPD_CHILDREN_H

#include "spawner/process/state.h"

/** Watch new children, forget those that left, and report the dead ones to the
 * segment. */
void httpd_children_check(spawner_t *s);

#endif
