/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file restart.h
 * @brief restart.txt and always_restart.txt: deployment by touch.
 *
 * Looking at the files is a system call on a disk that may hang, so it is
 * done outside the lock, before the checkout, and no more often than
 * AppStatInterval over all children. What was seen is compared under the
 * lock with what the group has on record. A child that looked before another
 * one stored a newer record is ignored (`seq`): one touch restarts once.
 *
 * Lock:  apl_restart_poll() takes none, the others need it.
 * Crash: the record is in the group's slot; half of it stored looks like a
 *        change and costs one restart more at the worst.
 * Trust: the files are looked at with the rights of the httpd child.
 */
#ifndef APPPOOL_SHM_POLICY_RESTART_H
#define APPPOOL_SHM_POLICY_RESTART_H

#include "shm/lock/lock_token.h"

/** What a child saw, and when. */
typedef struct {
    uint32_t seq; /**< group.stamp_seq before looking */
    apl_stamp_t stamp;
    int64_t changed; /**< us of apl_now(): when restart.txt was, if it exists */
} apl_restart_seen_t;

/**
 * Look at DIR/restart.txt and DIR/always_restart.txt, if the group's interval
 * says it is time.
 * @param group index of the group, 0: not known yet
 * @param dir   absolute path
 * @return 1: *look is filled in; 0: it is not time yet
 */
int apl_restart_poll(const apl_pool_t *pool, uint32_t group, const char *dir,
                     int64_t now, apl_restart_seen_t *look);

/** Is a restart of the group due? With the first look, for processes that were
 * started before the file was changed, of which nobody has asked for one. */
int apl_restart_due(const apl_pool_t *pool, const apl_group_t *group,
                    const apl_restart_seen_t *look);

/** Put what was seen on record; after the restart, so that one who dies on
 * the way leads to a second restart rather than to none. */
void apl_restart_record(apl_lock_token_t *token, apl_group_t *group,
                        const apl_restart_seen_t *look);

#endif
