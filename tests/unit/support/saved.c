/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "tests/unit/support/saved.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

shelf_t shelf;
int file;
store_save_t to;
store_snapshot_t result;
const store_history_t none;

uint32_t length_of(unsigned i)
{
    return i * i * 7;
}

void key_of(char key[16], unsigned i)
{
    snprintf(key, 16, "key%u", i);
}

int saved_setup(void **state)
{
    char key[16];
    unsigned i;

    (void)state;
    store_item_max = 1 << 20;
    file = memfd_create("save", MFD_CLOEXEC);
    shelf_open(&shelf, PAGES, 1);
    for (i = 0; i < ITEMS; i++) {
        key_of(key, i);
        assert_true(shelf_set(&shelf, key, i, length_of(i), 0) > 0);
    }
    return 0;
}

int saved_teardown(void **state)
{
    (void)state;
    close(file);
    shelf_close(&shelf);
    return 0;
}

int yes(void)
{
    return 1;
}

int no(void)
{
    return 0;
}

void begin(int (*go_on)(void), const store_history_t *history)
{
    assert_int_equal(store_snapshot_begin(&to, file, 7, go_on, history), 0);
}

void end(void)
{
    store_snapshot_close(&to);
    result = to.done;
}

void save(void)
{
    begin(yes, &none);
    store_snapshot_space(&to, shelf.space);
    assert_int_equal(store_snapshot_save(&to, shelf.space), 0);
    assert_int_equal(store_snapshot_end(&to), 0);
    end();
    assert_int_equal(result.bytes, lseek(file, 0, SEEK_END));
}

store_space_t *find(const char *name)
{
    return strcmp(name, "shop") == 0 ? shelf.space : NULL;
}

void load_unseen(void)
{
    shelf_close(&shelf);
    shelf_open(&shelf, PAGES, 1);
    assert_int_equal(store_snapshot_load(file, find, yes, &result), 0);
}

unsigned load(void)
{
    unsigned i, n = 0;
    char key[16];

    load_unseen();
    for (i = 0; i < ITEMS; i++) {
        key_of(key, i);
        n += (unsigned)shelf_get(&shelf, key, i, length_of(i));
    }
    assert_int_equal(shelf_check(&shelf), result.items);
    return n;
}
