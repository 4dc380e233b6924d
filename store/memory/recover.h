/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file recover.h
 * @brief The pages of a space become its index, its free chunks and its counts.
 *
 * Each item has to prove what format.h promises. What cannot be proved is
 * dropped and counted. Of two items of one key the one with the higher cas
 * stays.
 *
 * Lock:  before any other thread has the space.
 * Crash: it only makes chunks FREE, so it may be repeated.
 * Trust: nothing in the extent and in the entry of the space is believed. No
 *        byte outside of the pages is read or written.
 */
#ifndef APPPOOL_STORE_MEMORY_RECOVER_H
#define APPPOOL_STORE_MEMORY_RECOVER_H

#include "store/memory/extent.h"

/** The space has an empty index and no known page.
 * @param progress called after each page; NULL: nothing is called */
void store_recover(store_space_t *, void (*progress)(void));

#endif
