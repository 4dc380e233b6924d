/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file notes.h
 * @brief The lines that a store notes, for a test to look at. Link with
 *        -Wl,--wrap=store_note.
 *
 * Lock:  its own; threads of the store note, too.
 */
#ifndef APPPOOL_TESTS_UNIT_SUPPORT_NOTES_H
#define APPPOOL_TESTS_UNIT_SUPPORT_NOTES_H

/** @return how many lines have these words; "": how many lines there are */
unsigned notes_count(const char *words);

/** Fail if no line has these words. Then forget all lines. */
void notes_expect(const char *words);

/** The same, for a line that comes within 40 s. */
void notes_wait(const char *words);

/** Forget all lines. */
void notes_clear(void);

#endif
