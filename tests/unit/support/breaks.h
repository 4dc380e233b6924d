/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file breaks.h
 * @brief Breaks an invariant of shm/format/format.h by hand, and checks that
 *        apl_check() finds it.
 */
#ifndef APPPOOL_TESTS_UNIT_SUPPORT_BREAKS_H
#define APPPOOL_TESTS_UNIT_SUPPORT_BREAKS_H

#include "tests/unit/support/scene.h"

/** Change the segment. apl_check() must find this invariant broken, and no
 * other one before it. Then undo the change. */
#define breaks(s, number, what)                                                \
    do {                                                                       \
        char *image = breaks_save(s);                                          \
        what;                                                                  \
        breaks_found(s, number, #what);                                        \
        breaks_restore(s, image);                                              \
    } while (0)

char *breaks_save(scene_t *s);
void breaks_found(scene_t *s, int number, const char *what);
void breaks_restore(scene_t *s, char *image);

/** The first group is A, with an idle process and then a busy one; the second
 * is B, with a process that requests share. */
typedef struct {
    scene_t *s;
    apl_header_t *h;
    apl_group_t *a, *b;
    apl_process_t *idle, *busy, *shared;
    apl_session_t *held;
} busy_t;

busy_t busy_pool(void);

/** All places are taken. Two requests of the group `c` wait for room. */
typedef struct {
    scene_t *s;
    apl_header_t *h;
    apl_group_t *c;
    apl_session_t *first, *second, *held;
} full_t;

full_t full_pool(void);

#endif
