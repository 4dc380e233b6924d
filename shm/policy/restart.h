/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file restart.h
 * @brief restart.txt and always_restart.txt: touch them to deploy.
 *
 * A look at the files is a system call, and the disk may hang. So httpd looks
 * outside the lock, before the checkout. All children of httpd together do it
 * at most once per AppRestartCheckInterval. What was seen is then compared,
 * under the lock, with the record in the group. The record has a sequence
 * number (`seq`). If another child has stored a newer record meanwhile, what
 * this child saw is ignored. So one touch causes one restart. The interval
 * begins before the look at the files. So a request that comes at least one
 * interval after a touch sees it, even if the child that looked before was
 * stopped for a long time.
 *
 * Lock:  apl_restart_poll() takes none; the others need it.
 * Crash: the record is in the group's slot. A record of which only a part was
 *        stored looks like a change and causes at most one more restart.
 * Trust: the files are read with the rights of the child of httpd.
 */
#ifndef APPPOOL_SHM_POLICY_RESTART_H
#define APPPOOL_SHM_POLICY_RESTART_H

#include "shm/lock/lock_token.h"

/** What a child saw, and when. */
typedef struct {
    uint32_t seq; /**< group.stamp_seq before looking */
    int64_t at;   /**< us of apl_now(), before looking */
    apl_stamp_t stamp;
    int64_t changed; /**< us of apl_now(): time of restart.txt, if it exists */
} apl_restart_seen_t;

/**
 * Look at DIR/restart.txt and DIR/always_restart.txt, if
 * AppRestartCheckInterval has passed.
 * @param group index of the group; 0: not known yet
 * @param dir   absolute path
 * @return 1: *look is filled in; 0: AppRestartCheckInterval has not passed yet
 */
int apl_restart_poll(const apl_pool_t *pool, uint32_t group, const char *dir,
                     int64_t now, apl_restart_seen_t *look);

/**
 * Is a restart of the group due? When the group is looked at for the first
 * time, a restart is due if it has processes or a template that were started
 * before the file was changed.
 */
int apl_restart_due(const apl_pool_t *pool, const apl_group_t *group,
                    const apl_restart_seen_t *look);

/** Record what was seen. Call this after the restart: a child that dies in
 * between then causes a second restart. Otherwise the restart would be lost. */
void apl_restart_record(apl_lock_token_t *token, apl_group_t *group,
                        const apl_restart_seen_t *look);

#endif
