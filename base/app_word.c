/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "base/app_word.h"

#include <string.h>

int app_word_is_end(const char *word, const char *name)
{
    const char *more = strstr(name, " (");
    size_t length = more ? (size_t)(more - name) : strlen(name);
    size_t n = strlen(word);

    return n > 0 && n <= length && memcmp(name + length - n, word, n) == 0 &&
           (n == length || name[length - n - 1] == '/');
}
