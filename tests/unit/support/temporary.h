/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file temporary.h
 * @brief Directories of tests. A program that runs tests that may be killed
 *        sets TMPDIR, and removes what is left there.
 */
#ifndef APPPOOL_TESTS_UNIT_SUPPORT_TEMPORARY_H
#define APPPOOL_TESTS_UNIT_SUPPORT_TEMPORARY_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

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

static inline int temporary_remove_one(const char *path, const struct stat *st,
                                       int type, struct FTW *at)
{
    (void)st;
    (void)type;
    (void)at;
    return remove(path);
}

/** Remove a directory with all that is in it. Links are not followed.
 * @return 0, or not 0 with errno */
static inline int temporary_remove(const char *dir)
{
    return nftw(dir, temporary_remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

#endif
