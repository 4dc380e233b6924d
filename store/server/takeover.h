/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file takeover.h
 * @brief How the store of a new build can take over what the store of the old
 *        build has, after a graceful restart with another build of the module.
 *
 * Both instances have the same memfd of items and the same mailbox
 * (mod_apppool/parent/store_takeover.h). At most one store uses them:
 *
 *     httpd      writes the table of the new instance, removes the table of
 *                the old one, and rings the old bell
 *     old store  sees that it has no table, and ends with
 *                CONTRACT_EXIT_REPLACED
 *     new store  waits for the end of the old one, and then starts as after a
 *                crash
 *
 * A store of an older build had large values in files. It leaves them in the
 * mailbox before its end (save.h). If the new store is told to stop while it
 * waits, httpd stops. The old one cannot know that: it is told to stop in any
 * case, as its instance ends. So the new one tells it to hurry. Both have to
 * end within AppStoreSaveTime and CONTRACT_STORE_REST.
 *
 * Lock:  a lock of the kernel on one of the first 64 bytes of the memfd. It
 *        belongs to the process that has taken it, and ends with that process,
 *        however it ends. A store has the memory if it has one of these locks,
 *        and each other one is free, or its owner was killed and waits in the
 *        kernel. The lock of the byte behind these says: hurry.
 * Crash: an old store that is killed has left what any killed store leaves.
 *        The next one of its instance finds no table, and ends.
 * Trust: only stores write to the memfd and to the mailbox.
 */
#ifndef APPPOOL_STORE_SERVER_TAKEOVER_H
#define APPPOOL_STORE_SERVER_TAKEOVER_H

/**
 * Wait until no other store uses the memfd, and keep others from it until this
 * process ends. That takes as long as the other store lives. A store that was
 * killed and waits in the kernel does not count: it never runs again.
 * @param is_wanted  has this store still a table?
 * @param is_hurried is it told to stop? Then the other one is to hurry
 * @return 1: the memfd is this store's; 0: it is not wanted any more; -1:
 * errno
 */
int store_takeover_wait(int items, int (*is_wanted)(void),
                        int (*is_hurried)(void));

/** Is this descriptor of the mailbox a file of large values (save.h)? Then it
 * is taken. */
int store_takeover_take(int fd);

/** That file. The caller closes it. @return -1: there is none */
int store_takeover_left(void);

#endif
