/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file forget.h
 * @brief By hand: a slave does not keep its own data.
 *
 * Lock:  the main thread.
 */
#ifndef APPPOOL_STORE_CLUSTER_FORGET_H
#define APPPOOL_STORE_CLUSTER_FORGET_H

/** This slave has no copy from now on: it takes the one of the next master that
 * it meets, whatever it is. Its items stay until then.
 * @return NULL, or why not */
const char *store_forget(void);

#endif
