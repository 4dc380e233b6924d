/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file detect_text.h
 * @brief Looks at the files of an app as text: is a file there, what does it
 *        say, which files have such a name. Nothing is executed.
 *
 * Trust: the files belong to the app, and this may run as root. No more than
 *        64 KiB of a file and 1 MiB of the names in a directory are read, and
 *        no file to which a link leads out of AppRoot, except by
 *        detect_text_read_linked(). A FIFO is not waited for.
 */
#ifndef APPPOOL_DETECT_DETECT_TEXT_H
#define APPPOOL_DETECT_DETECT_TEXT_H

#include <stddef.h>

#define DETECT_PATH_MAX 256 /* of the path of a file, below AppRoot */

#define DETECT_WHY      200 /* of a clause about a file */

/**
 * A question about a file of an app that no pattern can ask.
 * @param why filled in, if it is not true and there is more to say: a clause
 *            that begins after the name of the file
 */
typedef int detect_test_t(int dir, const char *file, char why[DETECT_WHY]);

/** @param dir AppRoot, or AT_FDCWD
 *  @return 1: it is a regular file, or a link to one */
int detect_text_exists(int dir, const char *path);

/** @return the first 64 KiB, ended by a NUL. The caller frees them. NULL: no
 *          memory, no such file, or a link that leads out of `dir` */
char *detect_text_read(int dir, const char *path);

/** Read a file of the user, such as those of nvm, in which links may lead
 * anywhere. @param path absolute, or below the current directory */
char *detect_text_read_linked(const char *path);

/** The names in a directory, "/a/b/", which the caller frees. One list for all
 * rules replaces most of their system calls. NULL: no memory, or too many. */
char *detect_text_names(int dir);

/** May there be a file that has a name like this (detect_text_list())? NULL:
 * yes.
 * @return 0: the directory has no such entry */
int detect_text_may_exist(const char *names, const char *pattern);

/** Can the file not be read? @param why filled in if so: a clause about it */
int detect_text_is_closed(int dir, const char *path, char why[DETECT_WHY]);

/**
 * Finds a line.
 * @param pattern an extended regular expression; ^ and $ are those of a line
 * @param word    filled in: what the first parenthesis matches; or NULL
 * @return where the match begins; NULL: no line matches
 */
const char *detect_text_find(const char *text, const char *pattern,
                             char word[DETECT_PATH_MAX]);

/** Finds the last of these lines. @return as detect_text_find() does */
const char *detect_text_last(const char *text, const char *pattern,
                             char word[DETECT_PATH_MAX]);

/** Does a line match? This is faster. */
int detect_text_matches(const char *text, const char *pattern);

/** Does a line of a file match? @return 0 also if it cannot be read */
int detect_text_has(int dir, const char *path, const char *pattern);

/**
 * The regular files that have a name like this, in the order of the alphabet.
 * @param pattern each of its names may have `*`, which matches no dot at the
 *                begin of a name
 * @return how many; `paths` is filled with as many as it has places for
 */
size_t detect_text_list(int dir, const char *pattern,
                        char (*paths)[DETECT_PATH_MAX], size_t places);

#endif
