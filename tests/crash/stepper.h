/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file stepper.h
 * @brief Runs a function in a process of its own, instruction by instruction,
 *        and looks at shared memory after each instruction.
 *
 * SIGTRAP must not be blocked meanwhile.
 */
#ifndef APPPOOL_TESTS_CRASH_STEPPER_H
#define APPPOOL_TESTS_CRASH_STEPPER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef void stepper_work_t(void *arg);

/** Called after each instruction that changed the memory.
 * @param pid the process, stopped behind the instruction
 * @param step how many instructions it has run
 * @return 0: continue; 1: stop */
typedef int stepper_look_t(void *ctx, pid_t pid, unsigned step);

/** The way of a run. Zero it before its first use. */
typedef struct {
    uintptr_t *at;    /**< [n]: the instruction after n of them */
    unsigned *firsts; /**< those n with an at[n] that was not there before */
    unsigned n, n_firsts, size;
} stepper_path_t;

/**
 * Fork, and step through work(arg). Work must end by itself.
 * @param memory shared, `size` bytes
 * @param path   out: the way that it took; free it. NULL: it is not wanted
 * @param pid    out: the process, stopped; kill it
 * @return how many instructions were run
 */
unsigned stepper_run(stepper_work_t *work, void *arg, const void *memory,
                     size_t size, stepper_look_t *look, void *ctx,
                     stepper_path_t *path, pid_t *pid);

/**
 * Fork, and run exactly `stop` instructions of work(arg), on the way that
 * stepper_run() took. It runs at full speed up to the last instruction that is
 * new on this way, and then step by step. The way may differ a little: a call
 * that reads the clock takes another branch if the kernel writes it meanwhile.
 * @return the process, stopped; kill it. 0: the way differs, and it is dead
 */
pid_t stepper_run_to(stepper_work_t *work, void *arg,
                     const stepper_path_t *path, unsigned stop);

/** SIGKILL, and wait for the end. */
void stepper_kill(pid_t pid);

void stepper_free(stepper_path_t *path);

#endif
