/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file temporary.h
 * @brief Directories of tests. A program that runs tests that may be killed
 *        sets TMPDIR, and removes what is left there.
 */
#ifndef APPPOOL_TESTS_UNIT_SUPPORT_TEMPORARY_H
#define APPPOOL_TESTS_UNIT_SUPPORT_TEMPORARY_H

#include <stdio.h>
#include <stdlib.h>

#define TEMPORARY_MAX 100

/** Make the directory PREFIX-XXXXXX in $TMPDIR, or in /tmp.
 * @return its path, in `to`; NULL: errno says why not */
static inline char *temporary_dir(char to[TEMPORARY_MAX], const char *prefix)
{
    const char *in = getenv("TMPDIR");

    snprintf(to, TEMPORARY_MAX, "%s/%s-XXXXXX", in && *in ? in : "/tmp",
             prefix);
    return mkdtemp(to);
}

#endif
