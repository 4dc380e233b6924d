/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file large_value.h
 * @brief Values in unlinked files, because they are too large for the memory of
 *        a space.
 *
 * Such an item has STORE_IN_FILE. Behind its key is the number of its file
 * (store/memory/files.h). The file is mapped, so its bytes are read and written
 * as those of any other value. Its blocks are reserved before that: a full disk
 * is an error of store_large_take(), and never a signal. Bytes that the disk
 * cannot read are SIGBUS, and the end of the store.
 *
 * Lock:  none is held by the caller. They take the lock of the chunks, and make
 *        system calls without it.
 * Crash: the files end with the store. The recovery drops their items.
 * Trust: nobody else can open the files. The directory may be anybody's, may be
 *        full or away.
 */
#ifndef APPPOOL_STORE_MEMORY_LARGE_VALUE_H
#define APPPOOL_STORE_MEMORY_LARGE_VALUE_H

#include "store/memory/extent.h"

#define STORE_LARGE_COLD 100 /* s without an access: the memory is not needed */

/** Values that are longer than this are in files. Bytes; set once, before the
 * threads, as the directory. */
extern uint32_t store_large_over;
/** Must stay. */
extern const char *store_large_directory;

/** An unlinked file in the directory. @return descriptor; -1: errno */
int store_large_file(void);

/**
 * A file for a value, with all its blocks. Evicts values in files when the
 * limit of the space is reached.
 * @param length 1 or more
 * @return its number; 0: there is no room, or it cannot be made
 */
uint32_t store_large_take(store_space_t *, uint32_t length);

/**
 * Unmap what was given back. Values that nobody has read for some time lose
 * their page cache; they are read from the disk then.
 * @param at where the last call ended, 0 at first; the function moves it
 * @return 0: that was the last file
 */
int store_large_sweep(store_space_t *, uint32_t *at);

/** Why a file could not be made since the last call: errno. 0: none has failed.
 * A space that has reached its limit does not count. */
int store_large_error(void);

#endif
