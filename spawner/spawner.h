/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file spawner.h
 * @brief apppool-spawner without main(), because the tests have their own.
 */
#ifndef APPPOOL_SPAWNER_SPAWNER_H
#define APPPOOL_SPAWNER_SPAWNER_H

/** The whole program. @return its exit status */
int spawner_main(int argc, char **argv);

#endif
