/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file promotion.h
 * @brief A slave becomes the master: the cas that it gives from then on, and
 *        what the log says of its data, and how old they are.
 *
 * A new master gives no cas that a master before it has given. The one before
 * may have given more than this host has heard of, as a slave, or before a stop
 * of all hosts. So the counter of each space begins at a number that grows with
 * the time of day. That is above all that they gave, if the clocks agree.
 *
 * Lock:  any thread.
 */
#ifndef APPPOOL_STORE_CLUSTER_PROMOTION_H
#define APPPOOL_STORE_CLUSTER_PROMOTION_H

#include "base/store_format.h"
#include "store/cluster/cluster.h"
#include "store/cluster/follower_state.h"

/** A space has fewer changes in a millisecond, so its counter stays below the
 * time of day. That number is below 2^53 until the year 2039: many clients keep
 * a cas in a double (JavaScript, Lua, PHP), which has no more bits. */
#define STORE_CAS_MS      (UINT64_C(1) << 12)

/** A counter that is behind the time by no more than this, 64 ms, gets a gap
 * instead of the time. A slave that is behind by more changes has not heard of
 * all; the time is above them, unless the clock of its master was ahead. A
 * larger number would be worse: two hosts that become the master with the same
 * counter, one soon after the other, would both add the gap. */
#define STORE_CAS_UNHEARD (UINT64_C(1) << 18)

/** What is added to a counter that is not behind the time by
 * STORE_CAS_UNHEARD: the clock of a master was ahead, or the time has not gone
 * on since the last move of the address. */
#define STORE_CAS_GAP     (UINT64_C(1) << 32)

/** Raise the counter of each space. */
void store_promotion_cas(const store_cluster_hooks_t *);

/** @param vip   the address that has come, as text
 *  @param lacks STORE_LACKS_...: what the items lack */
void store_promotion_log(const char *vip, const store_follower_state_t *,
                         uint32_t lacks);

#endif
