/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file restart.h
 * @brief restart.txt and always_restart.txt: touch them to deploy.
 *
 * What was seen of restart.txt is a stamp: a number that is made of device,
 * inode, size and times of the file. Stamps are only compared for equality,
 * with each other and never with a clock. So a clock that was set, a suspended
 * machine, a file system with a clock of its own, and a file that was restored
 * with its old times hide no change. The spawner keeps the stamp under which it
 * has started a process or a template, and each look of httpd is compared with
 * the look before. At the first look there is none before it. Then the stamps
 * of the processes decide.
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
 * Lock:  apl_restart_poll() and apl_restart_stamp() take none; the others need
 *        it.
 * Crash: the record is in the group's slot. A record of which only a part was
 *        stored looks like a change and causes at most one more restart.
 * Trust: the files are read with the rights of the child of httpd, and before
 *        a start with those of the user of the app. If only httpd sees the
 *        file, its first look causes one restart.
 */
#ifndef APPPOOL_SHM_POLICY_RESTART_H
#define APPPOOL_SHM_POLICY_RESTART_H

#include "shm/lock/lock_token.h"

/** What a child saw, and when. */
typedef struct {
    uint32_t seq; /**< group.stamp_seq before looking */
    int64_t at;   /**< us of apl_now(), before looking */
    apl_stamp_t stamp;
} apl_restart_seen_t;

/** @return the stamp of DIR/restart.txt; APL_STAMP_NO_FILE: there is none;
 * APL_STAMP_UNKNOWN: it cannot be looked at, so there may be one */
uint64_t apl_restart_stamp(const char *dir);

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
 * Is a restart of the group due? After the first look, any other file makes it
 * due. At the first look, it is due if the group has a process or a template
 * that was started under another stamp, or if its last start failed.
 */
int apl_restart_due(const apl_pool_t *pool, const apl_group_t *group,
                    const apl_restart_seen_t *look);

/**
 * Record what was seen. Call this after the restart: a child that dies in
 * between then causes a second restart. Otherwise the restart would be lost. If
 * the file could not be looked at, only the time of the look is recorded. While
 * the stamp of something that is being started is not known yet, the first look
 * at restart.txt is not recorded: the next one decides.
 */
void apl_restart_record(apl_lock_token_t *token, apl_group_t *group,
                        const apl_restart_seen_t *look);

#endif
