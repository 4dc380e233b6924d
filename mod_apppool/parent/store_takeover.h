/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file store_takeover.h
 * @brief An instance takes over the store of the instance before it, which is
 *        of another build (retained.h). So an upgrade loses no session.
 *
 * The new store gets the memory and the mailbox of the old one. As soon as the
 * new instance has its tables, the old store is told to end. How the stores do
 * that is in store/server/takeover.h.
 *
 * Crash: of the parent: nothing is left to take over.
 * Trust: the parent reads nothing that the store can write. It removes one name
 *        from the directory of the store's user.
 */
#ifndef MOD_APPPOOL_PARENT_STORE_TAKEOVER_H
#define MOD_APPPOOL_PARENT_STORE_TAKEOVER_H

#include "mod_apppool/parent/retained.h"
#include "mod_apppool/parent/store_parts.h"

/**
 * Replace memory and mailbox by copies of those of the newest instance before
 * this one that has a store. If it has none that this build can take over, the
 * parts stay as they are, and the log says why.
 * @return the other instance; NULL: there is no store to take over
 */
apppool_retained_t *apppool_store_takeover(const apppool_retained_t *,
                                           apppool_store_parts_t *);

/** Have its store end. To tell it again changes nothing. @return 0, or -1: that
 * was logged */
int apppool_store_takeover_tell(apppool_retained_t *from);

#endif
