/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file app_word.h
 * @brief The word by which a command names an application.
 */
#ifndef APPPOOL_BASE_APP_WORD_H
#define APPPOOL_BASE_APP_WORD_H

/** Is the word the end of that name? "shop" is that of "/srv/shop", of
 * "/srv/shop (production)" and of "shop (staging)". */
int app_word_is_end(const char *word, const char *name);

#endif
