/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file exec_program.h
 * @brief Execute a program that is open, so that it is the one that was
 *        checked, whatever is at its path by now.
 *
 * It gets the descriptors that it is to have, and no other of httpd's. It is in
 * a session of its own, in "/", with default signals. Of the environment it
 * gets only the variables of language and time zone. SIGTERM is blocked.
 *
 * Lock:  none.
 * Crash: not concerned.
 * Trust: the program is the administrator's.
 */
#ifndef MOD_APPPOOL_PARENT_EXEC_PROGRAM_H
#define MOD_APPPOOL_PARENT_EXEC_PROGRAM_H

#include <sys/types.h>

#define APPPOOL_EXEC_FDS 24 /* at most */

/**
 * @param program descriptor of the program; may be close-on-exec
 * @param argv    ends with NULL; argv[0] is what ps shows
 * @param fds     what the program gets as 0, 1, 2 ...; -1: /dev/null
 * @param n       how many; descriptor n is the program itself
 * @return 0, or errno: also when it cannot be executed
 */
int apppool_exec_program(pid_t *pid, int program, char *const argv[],
                         const int *fds, int n);

#endif
