/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file userdb.h
 * @brief What AppUser may name, and the sentences for a look-up in the user
 *        database that found nothing. httpd's parent, the spawner and
 *        apppoolctl use the same sentences. libc only.
 *
 * The sentences are formats of printf(). So an administrator reads the same
 * words from `httpd -t` and from a start that failed.
 *
 * Trust: a name is checked before it becomes a number.
 */
#ifndef APPPOOL_BASE_USERDB_H
#define APPPOOL_BASE_USERDB_H

#include <stdint.h>
#include <sys/types.h>

/** No user, or one that is not known. In a parameter that chooses users: any
 * user. */
#define USERDB_NOBODY ((uid_t)-1)

/** "#33" is number 33 of a user or group. @return 1; 0: it is a name */
int userdb_number(const char *name, uint32_t *number);

/**
 * Why did getpwnam() or one of its kind find nothing?
 * @param error errno after it, which was 0 before
 * @return 1: there is no such entry; 0: the look-up failed
 */
int userdb_missing(int error);

/** "user" or "group"; its name; strerror() */
#define USERDB_LOOKUP_FAILED "the look-up of %s \"%s\" failed: %s"
/** "user" or "group"; its name */
#define USERDB_NO_SUCH       "there is no %s \"%s\""
/** a number with #; that number again */
#define USERDB_NO_GROUP                                                        \
    "\"%s\" has no entry in the user database: name its group as well: "       \
    "AppUser %s GROUP"
/** AppRoot; its owner's number (unsigned); that number again */
#define USERDB_NO_OWNER                                                        \
    "%s belongs to user %u, which has no entry in the user database: name "    \
    "user and group: AppUser #%u GROUP"
/** user; "#" or ""; the same user */
#define USERDB_ROOTS_GROUP                                                     \
    "the group of \"%s\" is root's, and no application runs in root's group: " \
    "name another group: AppUser %s%s GROUP"
/** group */
#define USERDB_GROUP_IS_ROOTS                                                  \
    "group \"%s\" is root's, and no application runs in root's group"

#endif
