/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* A reply to which anything is added, in any order, while its client takes any
 * part of it and other replies use memory that was given back. What the client
 * gets is what was added.
 *
 * Input: steps of three bytes: what, and a number. */

#include "store/protocol/reply.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"
#include "tests/unit/support/reader.h"
#include "tests/unit/support/shelf.h"

#define ADDED (8 << 20) /* bytes: a reply that is full gets no more */

static const uint32_t lengths[] = {1, 1024, 1025, 9000, 70000};
#define VALUES (sizeof lengths / sizeof *lengths)

static shelf_t shelf;
static char want[ADDED], got[ADDED];

typedef struct {
    store_reply_t *reply;
    int sockets[2];
    size_t n_want, n_got;
} scene_t;

static void must(int truth)
{
    if (!truth)
        abort();
}

/* The items stay for all inputs. */
static void open_shelf(void)
{
    static int is_open;

    if (is_open)
        return;
    is_open = 1;
    shelf_open(&shelf, 8, 1);
    for (unsigned i = 0; i < VALUES; i++)
        must(shelf_set(&shelf, (char[]){(char)('a' + i), '\0'}, i, lengths[i],
                       0) > 0);
}

static void begin(scene_t *s)
{
    open_shelf();
    s->reply = store_reply_make();
    must(s->reply != NULL);
    must(socketpair(AF_UNIX, SOCK_STREAM, 0, s->sockets) == 0);
}

static void end(scene_t *s)
{
    store_reply_free(s->reply);
    close(s->sockets[0]);
    close(s->sockets[1]);
    must(shelf_check(&shelf) == VALUES); /* no reference is left */
}

/* ---- steps ---- */

static void copy(scene_t *s, size_t n)
{
    char *at = want + s->n_want;

    for (size_t i = 0; i < n; i++)
        at[i] = (char)('a' + (s->n_want + i) % 23);
    store_reply_copy(s->reply, at, n);
    s->n_want += n;
}

static void add_value(scene_t *s, size_t which)
{
    unsigned i = (unsigned)(which % VALUES);
    store_item_t *item = shelf_take(&shelf, (char[]){(char)('a' + i), '\0'});

    must(item != NULL);
    store_reply_value(s->reply, shelf.space, item);
    store_item_read(shelf.space, item, 0, want + s->n_want, lengths[i]);
    s->n_want += lengths[i];
    store_item_release(shelf.space, item);
}

/* The client takes so many bytes. */
static void take(scene_t *s, size_t n)
{
    size_t sent;
    ssize_t more;

    reader_takes(n);
    (void)store_reply_send(s->reply, reader_send, &s->sockets[0], &sent);
    while ((more = recv(s->sockets[1], got + s->n_got, ADDED - s->n_got,
                        MSG_DONTWAIT)) > 0)
        s->n_got += (size_t)more;
    must(store_reply_pending(s->reply) == s->n_want - s->n_got);
    must(memcmp(got, want, s->n_got) == 0);
}

/* Another reply, of so many bytes. */
static void other(size_t n)
{
    char *bytes = malloc(n + 1);
    store_reply_t *reply = store_reply_make();

    must(bytes && reply);
    memset(bytes, '!', n);
    store_reply_copy(reply, bytes, n);
    store_reply_free(reply);
    free(bytes);
}

static void step(scene_t *s, const uint8_t *what)
{
    size_t n = (size_t)what[1] << 8 | what[2];
    int is_full = store_reply_is_full(s->reply);

    switch (what[0] % 4) {
    case 0:
        if (!is_full)
            copy(s, n);
        break;
    case 1:
        if (!is_full)
            add_value(s, n);
        break;
    case 2:
        take(s, n);
        break;
    default:
        other(n);
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    scene_t s = {.n_want = 0};

    begin(&s);
    for (; size >= 3 && s.n_want < ADDED / 2; data += 3, size -= 3)
        step(&s, data);
    while (store_reply_pending(s.reply) > 0)
        take(&s, SIZE_MAX);
    must(!store_reply_failed(s.reply));
    end(&s);
    return 0;
}
