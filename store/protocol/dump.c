/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/protocol/protocols.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/clock.h"
#include "store/memory/chunk.h"
#include "store/memory/item.h"
#include "store/protocol/dialogue_state.h"
#include "store/protocol/verbs.h"

/* Buckets of a slice: well below a millisecond. */
#define SLICE 1024

/* Bytes for the lines of one bucket, at first. A bucket has few items, because
 * their hashes are keyed. */
#define ROOM  32768

typedef struct {
    const store_dialogue_t *dialogue;
    char *text;
    size_t used, room;
    int full; /* the bucket has more */
} lines_t;

int store_dump_begin(store_dialogue_t *dialogue, const store_tokens_t *tokens)
{
    int keys = store_token_is(tokens->word[0], "keys") && tokens->n <= 2;

    if (!keys &&
        !(tokens->n == 3 && store_token_is(tokens->word[0], "lru_crawler") &&
          store_token_is(tokens->word[1], "metadump") &&
          store_token_is(tokens->word[2], "all")))
        return 0;
    if (keys)
        store_dump_keys(dialogue, tokens->word[1]);
    else {
        dialogue->dump_keys = 0;
        dialogue->dump_cursor = 0;
        dialogue->phase = STORE_PHASE_DUMP;
    }
    return 1;
}

void store_dump_keys(store_dialogue_t *dialogue, store_token_t prefix)
{
    dialogue->dump_keys = 1;
    dialogue->dump_cursor = 0;
    dialogue->n_prefix = 0;
    if (prefix.n > 0 && prefix.n <= STORE_KEY_MAX) {
        dialogue->prefix = malloc(prefix.n);
        if (dialogue->prefix) {
            memcpy(dialogue->prefix, prefix.at, prefix.n);
            dialogue->n_prefix = (uint8_t)prefix.n;
        }
    }
    /* No key is that long, or there is no memory: no key is listed. */
    if (prefix.n > 0 && dialogue->n_prefix == 0)
        dialogue->dump_cursor = UINT32_MAX;
    dialogue->phase = STORE_PHASE_DUMP;
}

static int has_prefix(const store_dialogue_t *dialogue,
                      const store_item_t *item)
{
    return dialogue->n_prefix <= item->klen &&
           (!dialogue->prefix || memcmp(store_item_key(item), dialogue->prefix,
                                        dialogue->n_prefix) == 0);
}

/* For `keys`. In text, a key with a line end would be lines that the client
 * takes for replies. */
static int is_wanted(const store_dialogue_t *dialogue, const store_item_t *item)
{
    return has_prefix(dialogue, item) &&
           (dialogue->protocol == STORE_PROTOCOL_BINARY ||
            !store_copy_is_unsafe(store_item_key(item), item->klen));
}

static char *key_line(char *at, const store_item_t *item)
{
    memcpy(at, "VALUE ", 6);
    memcpy(at + 6, store_item_key(item), item->klen);
    memcpy(at + 6 + item->klen, "\r\n", 2);
    return at + 8 + item->klen;
}

static char *key_packet(const store_dialogue_t *dialogue, char *at,
                        const store_item_t *item)
{
    store_packet_fill(dialogue, at, STORE_STATUS_OK, 0, item->klen, item->klen,
                      0);
    memcpy(at + STORE_PACKET_HEAD, store_item_key(item), item->klen);
    return at + STORE_PACKET_HEAD + item->klen;
}

/* In the key of a metadump, all but letters, digits and a few are %XX. */
static char *escape(char *at, const char *key, size_t n)
{
    static const char hex[] = "0123456789ABCDEF";

    for (; n > 0; n--, key++) {
        unsigned char c = (unsigned char)*key;

        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
            (c >= '0' && c <= '9') || (c && strchr("-._~", c))) {
            *at++ = (char)c;
        }
        else {
            *at++ = '%';
            *at++ = hex[c >> 4];
            *at++ = hex[c & 15];
        }
    }
    return at;
}

static char *meta_line(char *at, const store_item_t *item)
{
    uint32_t exptime = store_clock_to_host(STORE_GET(item->exptime));
    uint32_t size = store_item_size(item);
    unsigned class_ =
        store_class_of(size < STORE_CHUNK_MAX ? size : STORE_CHUNK_MAX);
    int n;

    memcpy(at, "key=", 4);
    at = escape(at + 4, store_item_key(item), item->klen);
    n = snprintf(at, 200,
                 " exp=%" PRId64 " la=%" PRIu32 " cas=%" PRIu64
                 " fetch=%s cls=%u size=%" PRIu32 "\n",
                 exptime == 0 ? -1 : (int64_t)exptime,
                 store_clock_to_host(STORE_GET(item->used)), item->cas,
                 STORE_GET(item->bits) & STORE_FETCHED ? "yes" : "no",
                 class_ + 1, size);
    return at + n;
}

static void look(void *ctx, const store_item_t *item)
{
    lines_t *lines = ctx;
    const store_dialogue_t *dialogue = lines->dialogue;
    char *at = lines->text + lines->used;

    lines->full |= lines->room - lines->used < STORE_LINE;
    if (lines->full)
        return;
    if (!dialogue->dump_keys)
        at = meta_line(at, item);
    else if (!is_wanted(dialogue, item))
        return;
    else if (dialogue->protocol == STORE_PROTOCOL_BINARY)
        at = key_packet(dialogue, at, item);
    else
        at = key_line(at, item);
    lines->used = (size_t)(at - lines->text);
}

static void end(store_dialogue_t *dialogue, store_reply_t *reply)
{
    free(dialogue->prefix);
    dialogue->prefix = NULL;
    dialogue->phase = STORE_PHASE_COMMAND;
    if (dialogue->protocol == STORE_PROTOCOL_BINARY)
        store_packet_head(dialogue, reply, STORE_STATUS_OK, 0, 0, 0, 0);
    else
        store_reply_copy(reply, "END\r\n", 5);
}

/* The lines of the bucket are looked for once more, with more room. */
static int make_room(lines_t *lines, char *first)
{
    char *more =
        realloc(lines->text == first ? NULL : lines->text, 2 * lines->room);

    if (!more)
        return 0;
    lines->text = more;
    lines->room *= 2;
    return 1;
}

/* @return 0: that was the last bucket, or there is no memory for its lines */
static int look_at_bucket(store_dialogue_t *dialogue, store_reply_t *reply)
{
    char first[ROOM];
    lines_t lines = {dialogue, first, 0, sizeof first, 0};
    uint32_t bucket = dialogue->dump_cursor;
    int more = 0;

    do {
        dialogue->dump_cursor = bucket;
        lines.full = 0;
        lines.used = 0;
        more = store_index_walk(dialogue->caller.space, &dialogue->dump_cursor,
                                1, look, &lines);
    } while (lines.full && make_room(&lines, first));
    store_reply_copy(reply, lines.text, lines.used);
    if (lines.text != first)
        free(lines.text);
    return more && !lines.full;
}

void store_dump_slice(store_dialogue_t *dialogue, store_reply_t *reply)
{
    unsigned i;

    for (i = 0; i < SLICE; i++) {
        int more = dialogue->dump_cursor != UINT32_MAX &&
                   look_at_bucket(dialogue, reply);

        if (!more) {
            end(dialogue, reply);
            return;
        }
        if (store_reply_is_full(reply))
            return;
    }
}
