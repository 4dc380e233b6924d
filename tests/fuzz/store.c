/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The bytes of a client of the store, in its four protocols: any bytes, in any
 * pieces, as a client that need not log in and as one that has to. The replies
 * are the same for all pieces, also if the client stops in the middle of them,
 * and nothing stays in use.
 *
 * Three items are there. So a short line asks for much, and the replies may
 * fill their memory in any way.
 *
 * Input: a byte (the size of the pieces), another one (how many bytes the
 * client reads in a turn), and the bytes that are sent. */

#include "store/protocol/dialogue.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "store/memory/item.h"
#include "store/memory/region.h"
#include "store/memory/space.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/support/reader.h"

#define PAGES      8
#define REPLY_MAX  (8 << 20) /* bytes of a reply that are compared */
#define SLOW_TURNS 16384

/* What came out. */
typedef struct {
    char *text;
    size_t n;
    int over;
} heard_t;

/* The time stands still, so that both runs are alike. */
int __wrap_clock_gettime(clockid_t id, struct timespec *now);
int __wrap_clock_gettime(clockid_t id, struct timespec *now)
{
    (void)id;
    now->tv_sec = 1000000;
    now->tv_nsec = 0;
    return 0;
}

static void must(int truth)
{
    if (!truth)
        abort();
}

static void take(heard_t *heard, int fd)
{
    ssize_t n;

    while ((n = recv(fd, heard->text + heard->n, REPLY_MAX - heard->n,
                     MSG_DONTWAIT)) > 0)
        heard->n += (size_t)n;
    must(heard->n < REPLY_MAX);
}

/* How a client behaves. */
typedef struct {
    size_t piece; /* bytes that it sends at once */
    size_t reads; /* bytes, in each of its first turns; 0: all */
    int is_locked;
} manner_t;

/* Its first turns are enough for the end of the first memory of a reply. */
static size_t reads_in_turn(const manner_t *manner, unsigned turn)
{
    return manner->reads && turn < SLOW_TURNS ? manner->reads : SIZE_MAX;
}

static void send_some(store_reply_t *reply, int *sockets, heard_t *heard,
                      size_t n)
{
    size_t sent;

    reader_takes(n);
    if (store_reply_pending(reply) > 0)
        (void)store_reply_send(reply, reader_send, &sockets[0], &sent);
    take(heard, sockets[1]);
}

/* All bytes, in such pieces. What the client does not take has to wait. */
static void talk(store_dialogue_t *dialogue, const char *bytes, size_t size,
                 const manner_t *manner, heard_t *heard)
{
    store_reply_t *reply = store_reply_make();
    size_t at = 0, end = 0, piece = manner->piece;
    unsigned budget, turn = 0;
    int sockets[2];

    must(reply && socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
    do {
        end = end + piece < size ? end + piece : size;
        do {
            size_t used;

            budget = 3;
            used = store_dialogue_input(dialogue, bytes + at, end - at, reply,
                                        &budget);
            must(used <= end - at);
            at += used;
            send_some(reply, sockets, heard, reads_in_turn(manner, turn++));
        } while (budget == 0);
        must(end - at <= store_dialogue_line_max());
    } while (end < size);
    while (store_reply_pending(reply) > 0)
        send_some(reply, sockets, heard, reads_in_turn(manner, turn++));
    must(!store_reply_failed(reply));
    heard->over = store_dialogue_is_over(dialogue);
    store_reply_free(reply);
    close(sockets[0]);
    close(sockets[1]);
}

static int log_in(void *ctx, const char *user, size_t n_user,
                  const char *password, size_t n)
{
    (void)ctx;
    return n_user == 1 && *user == 'u' && n == 1 && *password == 'p';
}

static void put(store_space_t *space, const char *key, uint32_t length)
{
    store_item_t *item = store_item_make(space, key, 1, 0, 0, length);
    store_bucket_t bucket;

    must(item != NULL);
    for (uint32_t i = 0; i < length; i++)
        store_item_write(space, item, i, &(char){(char)('0' + i % 73)}, 1);
    store_index_lock(&bucket, space, key, 1);
    store_index_put(&bucket, item, NULL, 0);
    store_index_unlock(&bucket);
    store_item_release(space, item);
}

static void converse(const char *bytes, size_t size, const manner_t *manner,
                     heard_t *heard)
{
    static const store_login_t login = {log_in};
    const store_space_options_t options = {
        .name = "fuzz", .size = PAGES * STORE_PAGE, .evict = 1};
    const store_server_t server = {
        .max_object = 1 << 20, .threads = 1, .max_connections = 1};
    int items = memfd_create("items", 0), figures = memfd_create("figures", 0);
    store_space_t *space;
    store_dialogue_t *dialogue;

    must(store_region_open(items, figures) == 0);
    space = store_space_open(&options);
    must(space != NULL);
    put(space, "t", 1);
    put(space, "s", 1024); /* it is copied into a reply */
    put(space, "l", 1025); /* it is not */
    dialogue = store_dialogue_make(
        space, &store_region_figures()->worker[0][space->slot], &server);
    must(dialogue != NULL);
    if (manner->is_locked)
        store_dialogue_guard(dialogue, &login, NULL, 1);
    talk(dialogue, bytes, size, manner, heard);
    store_dialogue_free(dialogue);
    store_space_close(space);
    store_region_close();
    close(items);
    close(figures);
}

/* Statistics contain how long the process has run, and numbers of dialogues. */
static int has_statistics(const heard_t *heard)
{
    return memmem(heard->text, heard->n, "rusage", 6) ||
           memmem(heard->text, heard->n, ":secs_since", 11);
}

static void compare(const char *bytes, size_t size, const manner_t *manner)
{
    static char text[2][REPLY_MAX];
    heard_t whole = {.text = text[0]}, pieces = {.text = text[1]};

    converse(bytes, size, &(manner_t){size, 0, manner->is_locked}, &whole);
    converse(bytes, size, manner, &pieces);
    must(whole.over == pieces.over);
    if (!has_statistics(&whole))
        must(whole.n == pieces.n &&
             memcmp(whole.text, pieces.text, whole.n) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data + 2;
    manner_t manner;

    if (size < 3)
        return 0;
    manner = (manner_t){data[0] ? data[0] : 1, data[1], 0};
    compare(bytes, size - 2, &manner);
    manner.is_locked = 1;
    compare(bytes, size - 2, &manner);
    return 0;
}
