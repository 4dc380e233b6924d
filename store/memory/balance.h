/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file balance.h
 * @brief Room for a new item, from the class whose items were unused longest.
 *
 * A chunk serves one size only. So a class evicts one of its own items, which is
 * cheap, as long as no other class has items that are clearly older. Else a page
 * of that class goes to this one. Ages are those of store/memory/age.h.
 *
 * Clearly older: by more than a quarter, and by more than one second. So equal
 * classes exchange no pages. And no class loses its last page in this way: small
 * items need few pages, and bring as many hits as others.
 *
 * Lock:  the caller has the lock of the chunks. It is given back and taken
 *        again in between.
 * Crash: see store/memory/move.h and store/memory/evict.h.
 */
#ifndef APPPOOL_STORE_MEMORY_BALANCE_H
#define APPPOOL_STORE_MEMORY_BALANCE_H

#include "store/memory/extent.h"

/**
 * Make room for a chunk of this class, when none and no page is free.
 * @return 1: something was freed, perhaps not enough. 0: there is no room
 */
int store_balance(store_space_t *, unsigned class_);

#endif
