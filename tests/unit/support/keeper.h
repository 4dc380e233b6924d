/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file keeper.h
 * @brief A space with values that take long to load and to save: the clock goes
 *        on with each heartbeat.
 */
#ifndef APPPOOL_TESTS_UNIT_SUPPORT_KEEPER_H
#define APPPOOL_TESTS_UNIT_SUPPORT_KEEPER_H

#include "tests/unit/support/shelf.h"

#include "store/server/save.h"

#define STEP   100 /* ms that an item takes */
#define VALUES 60
#define LENGTH 5000
#define HURRY  3000 /* ms that a step has left when httpd stops */
#define TIME   12
#define LAST   16000 /* ms from SIGTERM, with TIME */
#define LEAST  1000

extern shelf_t own; /**< the space "shop" */
extern store_save_files_t files;
#define file files.fd[0]
extern int keeper_mailbox[2];
extern int asked;             /**< how often the start looked for SIGTERM */
extern int64_t late, told_at; /**< ms: the clock; when SIGTERM came, or 0 */

int keeper_setup(void **state);
int keeper_teardown(void **state);

/** Serve these spaces. @param other NULL: no other one */
void serve(const char *name, const char *other);

const char *key_of(unsigned i);

/** Remove all values. */
void forget(void);

/** @return how many are there */
unsigned count(void);

#endif
