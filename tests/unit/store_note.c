/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Lines of the store for which the FIFO has no room. */

#include "store/note.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/contract.h"
#include "tests/unit/support/scene.h"
#include "tests/unit/support/temporary.h"

static char text[1 << 17];

static void read_all(int fd)
{
    ssize_t n = read(fd, text, sizeof text - 1);

    text[n > 0 ? n : 0] = 0;
}

/* The next line that finds room comes with a line that counts them. */
static void lines_without_room_are_counted(void **state)
{
    char dir[TEMPORARY_MAX];
    int i, dirfd, fd;

    (void)state;
    dirfd = temporary_dir(dir, "note") ? open(dir, O_RDONLY | O_DIRECTORY) : -1;
    assert_int_equal(mkdirat(dirfd, CONTRACT_OUTPUT, 0700), 0);
    assert_int_equal(mkfifoat(dirfd, CONTRACT_STORE_LOG, 0600), 0);
    fd = openat(dirfd, CONTRACT_STORE_LOG, O_RDWR | O_NONBLOCK);
    store_note_open(dirfd);
    memset(text, 'x', 4000);
    text[4000] = 0;
    while (write(fd, text, 4000) == 4000)
        ;
    for (i = 0; i < 3; i++)
        store_note(STORE_NOTICE, "%s", text);
    read_all(fd);
    assert_null(strstr(text, "<5>"));
    store_note(STORE_NOTICE, "there is room");
    read_all(fd);
    assert_string_equal(text, "<5>there is room\n<4>3 lines of this log are "
                              "lost\n");
    store_note(STORE_NOTICE, "again");
    read_all(fd);
    assert_string_equal(text, "<5>again\n");
    close(fd);
    unlinkat(dirfd, CONTRACT_STORE_LOG, 0);
    unlinkat(dirfd, CONTRACT_OUTPUT, AT_REMOVEDIR);
    close(dirfd);
    rmdir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_without_room_are_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
