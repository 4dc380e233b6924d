/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file utf8.h
 * @brief Which characters of a text may be shown: in JSON, a log, a page, or a
 *        terminal, which obeys control characters.
 *
 * Trust: takes any bytes.
 */
#ifndef APPPOOL_BASE_UTF8_H
#define APPPOOL_BASE_UTF8_H

#include <stddef.h>

/** The number of bytes of the UTF-8 character at `text`.
 * @return 0: it is invalid, a control character (U+0080 to U+009F, too), or one
 *         that changes the order in which the text after it is shown */
size_t utf8_character(const char *text);

#endif
