/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file early.h
 * @brief For a scene: processes that end before their start is a success
 *        (shm/policy/backoff.h).
 */
#ifndef APPPOOL_TESTS_UNIT_SUPPORT_EARLY_H
#define APPPOOL_TESTS_UNIT_SUPPORT_EARLY_H

#include "tests/unit/support/scene.h"

/** A request gets a new process. @return the id of the process */
uint64_t early_start(scene_t *s, const apl_app_t *a, apl_session_ref_t *h);

/** The process is gone. */
void early_gone(scene_t *s, uint64_t id);

/** The process of this request refuses its connection, and is gone. */
void early_refuses(scene_t *s, apl_session_ref_t *h);

/** A process starts, and refuses; 1 ms passes. */
void early_end(scene_t *s, const apl_app_t *a);

/** Has the app had as many early ends in a row, and as many failed starts? */
void early_fails(scene_t *s, const apl_app_t *a, uint32_t young,
                 uint32_t failures);

#endif
