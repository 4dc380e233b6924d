/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file stepper.h
 * @brief Run a function in a process of its own, instruction by instruction,
 *        and look at shared memory after each.
 */
#ifndef STEPPER_H
#define STEPPER_H

#include <stddef.h>
#include <sys/types.h>

typedef void stepper_work_t(void *arg);

/** Called after each instruction that changed the memory.
 * @param pid the process, stopped behind the instruction
 * @param step how many instructions it has run
 * @return 0: go on; 1: that is enough */
typedef int stepper_look_t(void *ctx, pid_t pid, unsigned step);

/**
 * Fork, and step through work(arg). Work must end by itself.
 * @param memory shared, `size` bytes
 * @param look   may be NULL
 * @param stop   run so many instructions and no more; 0: to the end
 * @param pid    out: the process, stopped; kill it
 * @return how many instructions were run
 */
unsigned stepper_run(stepper_work_t *work, void *arg, const void *memory,
                     size_t size, stepper_look_t *look, void *ctx,
                     unsigned stop, pid_t *pid);

/** SIGKILL, and wait for the end. */
void stepper_kill(pid_t pid);

#endif
