/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file start_step.h
 * @brief The steps of a start. A failure names its step.
 */
#ifndef APPPOOL_SPAWNER_PROCESS_START_STEP_H
#define APPPOOL_SPAWNER_PROCESS_START_STEP_H

/** The step that failed. */
enum {
    START_STEP_PREPARE,   /**< sockets, pipes, fork */
    START_STEP_USER,      /**< finding AppUser, taking its rights */
    START_STEP_VARIABLES, /**< reading AppEnvFile */
    START_STEP_DIRECTORY, /**< entering AppRoot */
    START_STEP_COMMAND,   /**< finding what to run, and running it */
    START_STEP_BOOT,      /**< it ended while it started */
    START_STEP_READY,     /**< it was not ready in time */
    START_STEP_STAY       /**< it ended as soon as it was ready */
};

#endif
