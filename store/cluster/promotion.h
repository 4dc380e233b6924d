/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file promotion.h
 * @brief What the log says of a slave that becomes the master: which data it has,
 *        and how old they are.
 *
 * Lock:  any thread.
 */
#ifndef APPPOOL_STORE_CLUSTER_PROMOTION_H
#define APPPOOL_STORE_CLUSTER_PROMOTION_H

#include "store/cluster/follower_state.h"
#include "base/store_format.h"

/** @param vip   the address that has come, as text
 *  @param lacks STORE_LACKS_...: what the items lack */
void store_promotion_log(const char *vip, const store_follower_state_t *,
                         uint32_t lacks);

#endif
