/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file spawner.h
 * @brief apppool-spawner, apart from main(), which the tests have themselves.
 */
#ifndef APPPOOL_SPAWNER_SPAWNER_H
#define APPPOOL_SPAWNER_SPAWNER_H

/** The whole program. @return its exit status */
int spawner_main(int argc, char **argv);

#endif
