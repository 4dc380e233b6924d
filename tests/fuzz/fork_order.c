/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* A hello with any bytes, and any facts from the kernel about the process.
 * Also: an order of any strings contains these strings again when it is read.
 *
 * Input: a byte (what it is), and the bytes. */

#include "spawner/process/fork_order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

static void must(int truth)
{
    if (!truth)
        abort();
}

/* [1-9][0-9]{0,9}\n, and nothing else. */
static void try_hello(const char *bytes, size_t n)
{
    pid_t pid = fork_order_hello(bytes, n);
    char again[FORK_HELLO_MAX];
    size_t i;

    must(pid >= 0);
    if (pid > 0) {
        size_t length = (size_t)snprintf(again, sizeof again, "%d\n", (int)pid);

        must(length == n && memcmp(again, bytes, n) == 0);
        return;
    }
    for (i = 0; i + 1 < n && bytes[i] >= '0' + (i == 0) && bytes[i] <= '9'; i++)
        ;
    must(i == 0 || i + 1 != n || bytes[i] != '\n' || i > 10 ||
         (i == 10 && memcmp(bytes, "2147483647", 10) > 0));
}

/* Each of its strings is there again. */
static void try_order(char *bytes, size_t n)
{
    char text[FORK_ORDER_MAX];
    const char *list[64], *at = text;
    size_t count = 0, length, i, all = 0;

    bytes[n] = 0;
    for (i = 0; i < n && count < 63; i += strlen(bytes + i) + 1) {
        list[count++] = bytes + i;
        all += strlen(bytes + i) + 1;
    }
    list[count] = NULL;
    length = fork_order_write(list, text);
    must(length < FORK_ORDER_MAX);
    if (length == 0) {
        must(all <= 1 || all > FORK_ORDER_MAX);
        return;
    }
    must(length == all - 1);
    for (i = 0; i < count; i++, at += strlen(at) + 1)
        must(strcmp(at, list[i]) == 0);
}

static void try_facts(const char *bytes, size_t n)
{
    static const fork_expected_t expected = {1, 1, 1};
    fork_facts_t is = {1, 1, 1, 1, {1, 1, 1, 1}, 0, 1};
    int same;

    memcpy(&is, bytes, n < sizeof is ? n : sizeof is);
    same = is.parent == 1 && is.session == is.pid && is.start >= 1 &&
           is.uids[0] == 1 && is.uids[1] == 1 && is.uids[2] == 1 &&
           is.uids[3] == 1 && !is.recorded && is.in_cgroup;
    must(same == !fork_order_wrong(&is, &expected));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *bytes = malloc(size + 1);
    uint32_t uids[4];

    if (!bytes || size == 0) {
        free(bytes);
        return 0;
    }
    memcpy(bytes, data + 1, size - 1);
    bytes[size - 1] = 0;
    switch (data[0] % 4) {
    case 0:
        try_hello(bytes, size - 1);
        break;
    case 1:
        try_order(bytes, size - 1);
        break;
    case 2:
        try_facts(bytes, size - 1);
        break;
    default:
        must(fork_order_uids(bytes, uids) <= 0);
    }
    free(bytes);
    return 0;
}
