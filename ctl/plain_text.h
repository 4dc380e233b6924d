/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file plain_text.h
 * @brief Texts of other programs, for a terminal.
 *
 * Trust: a text may have any bytes. A control character would be an order to
 *        the terminal, which may be that of root. It is printed as "?".
 */
#ifndef APPPOOL_CTL_PLAIN_TEXT_H
#define APPPOOL_CTL_PLAIN_TEXT_H

#include <stdio.h>

/** Print a text of UTF-8. A tab is printed as it is. */
void plain_text_put(FILE *out, const char *text);

#endif
