/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file exec_program.h
 * @brief Executes a program by its descriptor. So it is the program that was
 *        checked, whatever is at its path by now.
 *
 * It gets the descriptors that the caller names, and no others of httpd. It is
 * in a new session, in "/", with default signals. Its environment has only the
 * variables of language and time zone. SIGTERM and SIGHUP are blocked.
 *
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
