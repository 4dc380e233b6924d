/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file store_name.h
 * @brief Which space of the store is meant.
 */
#ifndef APPPOOL_CTL_STORE_NAME_H
#define APPPOOL_CTL_STORE_NAME_H

/**
 * Find the name of a space in the status. Only root and the user of httpd see
 * there which spaces there are. Other users, and whoever asks while the spawner
 * does not respond or the store begins, have to give the whole name.
 * @param word  the name, or its end, as in app_word.h
 * @param space filled in; to be freed
 * @return an exit status; the reason was printed
 */
int store_name_find(const char *dir, const char *word, char **space);

#endif
