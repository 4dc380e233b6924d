/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file detect_script.h
 * @brief A Python file that has no application for a server, but listens on a
 *        port by itself: aiohttp, Tornado, `run()` of Bottle. Our helper gives
 *        it the socket in place of that port (helpers/python/listen.py).
 */
#ifndef APPPOOL_DETECT_DETECT_SCRIPT_H
#define APPPOOL_DETECT_DETECT_SCRIPT_H

#include "detect/detect_file.h"
#include "detect/detect_text.h"

/** The text calls what serves until the end. */
detect_test_t detect_script_serves;
/** The file, as the argument of the helper. */
detect_file_t detect_script_read;

#endif
