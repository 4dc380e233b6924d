/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file saved.h
 * @brief A space with items of many lengths, and the file that it is saved to.
 */
#ifndef APPPOOL_TESTS_UNIT_SUPPORT_SAVED_H
#define APPPOOL_TESTS_UNIT_SUPPORT_SAVED_H

#include "tests/unit/support/shelf.h"

#include "store/server/snapshot.h"
#include "store/server/snapshot_load.h"

#define PAGES 200
#define ITEMS 60

extern shelf_t shelf;
extern int file;
extern store_save_t to;
extern store_snapshot_t result; /* of the last save or load */
extern const store_history_t none;

/** The items have the keys key0 to key59, and their numbers as seeds. */
uint32_t length_of(unsigned i);
void key_of(char key[16], unsigned i);

int saved_setup(void **state);
int saved_teardown(void **state);

/** Save all items. */
void save(void);

/** Begin and end a save in parts. */
void begin(int (*go_on)(void), const store_history_t *history);
void end(void);

/** Load into a new, empty memfd. @return how many items are right */
unsigned load(void);

/** The same. No item is read. */
void load_unseen(void);

int yes(void);
int no(void);
store_space_t *find(const char *name);

#endif
