/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file touch.h
 * @brief A directory of the test, for restart.txt.
 */
#ifndef APPPOOL_TESTS_UNIT_SUPPORT_TOUCH_H
#define APPPOOL_TESTS_UNIT_SUPPORT_TOUCH_H

#include <time.h>

#include "tests/unit/support/scene.h"
#include "tests/unit/support/temporary.h"

/** The directory; made and removed by these two, which are cmocka's. */
extern char touch_dir[TEMPORARY_MAX];
int touch_begin(void **state);
int touch_end(void **state);

/** A file in it. @return a static buffer */
const char *touch_path(const char *name);

/** Make the file, or change its time. */
void touch(const char *name, time_t mtime);

/** Put another file there, with this time. */
void touch_replace(const char *name, time_t mtime);

/** A request that looks at the files of the directory. @return the id of its
 * process */
uint64_t touch_serve(scene_t *s, const apl_app_t *a);

#endif
