/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/protocol/protocols.h"

#include <string.h>

#include "store/clock.h"
#include "store/protocol/delta.h"
#include "store/protocol/dialogue_state.h"

/* A request, and what came with its head. */
typedef struct {
    store_dialogue_t *dialogue;
    store_reply_t *reply;
    uint8_t opcode; /* not quiet */
    const char *extras;
    const char *key;
    uint8_t klen;
    uint32_t value; /* bytes that follow the key */
} request_t;

static void fail(const request_t *r, unsigned status)
{
    store_packet_error(r->dialogue, r->reply, status, NULL);
}

/* Lengths that do not fit the opcode. */
static void refuse(const request_t *r)
{
    fail(r, STORE_STATUS_INVALID);
    r->dialogue->over = 1;
}

/* @param otherwise the status of a result that is not one of these */
static unsigned status_of(store_result_t rv, unsigned otherwise)
{
    switch (rv) {
    case STORE_EXISTS:
        return STORE_STATUS_EXISTS;
    case STORE_NOT_FOUND:
        return STORE_STATUS_NOT_FOUND;
    case STORE_NOT_NUMERIC:
        return STORE_STATUS_NOT_NUMERIC;
    case STORE_LOCKED_OUT:
        return STORE_STATUS_LOCKED;
    case STORE_NOT_LOCKED:
        return STORE_STATUS_NOT_LOCKED;
    default:
        return otherwise;
    }
}

/* What could not lock an item. */
static void refuse_locked(const request_t *r, store_result_t rv)
{
    store_packet_error(r->dialogue, r->reply,
                       status_of(rv, STORE_STATUS_NO_MEMORY),
                       rv == STORE_TOO_MANY_LOCKS ? STORE_LOCKS_TEXT : NULL);
}

/* ---- fetch ---- */

static void found(const request_t *r, store_item_t *item)
{
    int with_key = r->opcode == STORE_OP_GETK || r->opcode == STORE_OP_GATK ||
                   r->opcode == STORE_OP_LAGK;
    int with_value = r->opcode != STORE_OP_TOUCH;
    uint16_t klen = with_key ? r->klen : 0;
    char flags[4];

    store_packet_head(r->dialogue, r->reply, STORE_STATUS_OK, 4, klen,
                      4 + (uint32_t)klen + (with_value ? item->length : 0),
                      item->cas);
    store_net_put32(flags, item->flags);
    store_reply_copy(r->reply, flags, sizeof flags);
    store_reply_copy(r->reply, r->key, klen);
    if (with_value)
        store_reply_value(r->reply, r->dialogue->caller.space, item);
}

/* yrmcds reports a miss of a quiet lock-and-get, too. */
static void missed(const request_t *r)
{
    if (r->opcode == STORE_OP_LAG || r->opcode == STORE_OP_LAGK) {
        fail(r, STORE_STATUS_NOT_FOUND);
        return;
    }
    if (r->dialogue->quiet)
        return;
    if (r->opcode != STORE_OP_GETK && r->opcode != STORE_OP_GATK) {
        fail(r, STORE_STATUS_NOT_FOUND);
        return;
    }
    store_packet_head(r->dialogue, r->reply, STORE_STATUS_NOT_FOUND, 0, r->klen,
                      r->klen, 0);
    store_reply_copy(r->reply, r->key, r->klen);
}

static void fetch(const request_t *r)
{
    store_fetch_t f = {.touch = r->dialogue->head.extras_length == 4,
                       .lock = r->opcode == STORE_OP_LAG ||
                               r->opcode == STORE_OP_LAGK};
    store_item_t *item;

    if (f.touch)
        f.exptime = store_clock_exptime(store_net_get32(r->extras));
    item = store_verbs_fetch(&r->dialogue->caller, r->key, r->klen, &f);
    if (item) {
        found(r, item);
        store_item_release(r->dialogue->caller.space, item);
    }
    else if (f.refused)
        refuse_locked(r, f.refused);
    else {
        missed(r);
    }
}

/* ---- requests that store a value ---- */

static store_mode_t mode_of(const request_t *r)
{
    switch (r->opcode) {
    case STORE_OP_ADD:
        return STORE_MODE_ADD;
    case STORE_OP_REPLACE:
        return STORE_MODE_REPLACE;
    case STORE_OP_APPEND:
        return STORE_MODE_APPEND;
    case STORE_OP_PREPEND:
        return STORE_MODE_PREPEND;
    default:
        return STORE_MODE_SET;
    }
}

/* The value comes next. */
static void begin(const request_t *r, store_update_t how)
{
    int whole = r->dialogue->head.extras_length == 8;
    int drops = how.mode == STORE_MODE_SET;
    uint32_t flags = whole ? store_net_get32(r->extras) : 0;
    uint32_t exptime =
        whole ? store_clock_exptime(store_net_get32(r->extras + 4)) : 0;

    how.cas = r->dialogue->head.cas;
    if (whole && how.cas != 0)
        how.mode = STORE_MODE_CAS;
    switch (store_value_begin(r->dialogue, STORE_PROTOCOL_BINARY, r->key,
                              r->klen, flags, exptime, r->value, &how)) {
    case STORE_VALUE_BEGUN:
        return;
    case STORE_VALUE_TOO_LARGE:
        fail(r, STORE_STATUS_TOO_LARGE);
        break;
    case STORE_VALUE_TOO_MANY:
        store_packet_error(r->dialogue, r->reply, STORE_STATUS_NO_MEMORY,
                           "Too many large values at a time");
        break;
    default:
        store_packet_error(r->dialogue, r->reply, STORE_STATUS_NO_MEMORY,
                           "Out of memory allocating item");
        break;
    }
    if (drops)
        store_verbs_drop(&r->dialogue->caller, r->key, r->klen);
}

static void update(const request_t *r)
{
    begin(r, (store_update_t){.mode = mode_of(r)});
}

static void replace_and_unlock(const request_t *r)
{
    begin(r, (store_update_t){.mode = STORE_MODE_REPLACE, .unlock = 1});
}

static unsigned not_stored(store_mode_t mode)
{
    return mode == STORE_MODE_ADD       ? STORE_STATUS_EXISTS
           : mode == STORE_MODE_REPLACE ? STORE_STATUS_NOT_FOUND
                                        : STORE_STATUS_NOT_STORED;
}

void store_binary_stored(store_dialogue_t *dialogue, store_reply_t *reply)
{
    uint64_t cas;
    store_result_t rv = store_update(&dialogue->caller, dialogue->item,
                                     &dialogue->update, &cas);

    if (rv == STORE_DONE)
        store_packet_done(dialogue, reply, "", 0, cas);
    else
        store_packet_error(dialogue, reply,
                           status_of(rv, not_stored(dialogue->update.mode)),
                           NULL);
}

/* ---- locks, and keys, of yrmcds ---- */

static void answer(const request_t *r, store_result_t rv)
{
    if (rv == STORE_DONE)
        store_packet_done(r->dialogue, r->reply, "", 0, 0);
    else
        refuse_locked(r, rv);
}

static void lock(const request_t *r)
{
    answer(r, store_key_lock(&r->dialogue->caller, r->key, r->klen));
}

static void unlock(const request_t *r)
{
    answer(r, store_key_unlock(&r->dialogue->caller, r->key, r->klen));
}

static void unlock_all(const request_t *r)
{
    store_key_unlock_all(&r->dialogue->caller);
    answer(r, STORE_DONE);
}

static void keys(const request_t *r)
{
    store_dump_keys(r->dialogue, (store_token_t){r->key, r->klen});
}

/* ---- other verbs ---- */

static void delta(const request_t *r)
{
    uint32_t exptime = store_net_get32(r->extras + 16);
    store_delta_t d = {.decrement = r->opcode == STORE_OP_DECREMENT,
                       .delta = store_net_get64(r->extras),
                       .cas = r->dialogue->head.cas,
                       .vivify = exptime != UINT32_MAX,
                       .initial = store_net_get64(r->extras + 8)};
    store_result_t rv;
    unsigned status;
    char value[8];

    if (d.vivify)
        d.vivify_exptime = store_clock_exptime(exptime);
    rv = store_delta_apply(&r->dialogue->caller, r->key, r->klen, &d);
    if (rv == STORE_DONE || rv == STORE_CREATED) {
        store_net_put64(value, d.value);
        store_packet_done(r->dialogue, r->reply, value, sizeof value,
                          d.new_cas);
        return;
    }
    status = status_of(rv, STORE_STATUS_NO_MEMORY);
    store_packet_error(r->dialogue, r->reply, status,
                       status == STORE_STATUS_NO_MEMORY
                           ? "Out of memory incrementing value"
                           : NULL);
}

static void delete_key(const request_t *r)
{
    store_delete_t how = {.cas = r->dialogue->head.cas,
                          .has_cas = r->dialogue->head.cas != 0};
    store_result_t rv =
        store_verbs_delete(&r->dialogue->caller, r->key, r->klen, &how);

    if (rv == STORE_DONE)
        store_packet_done(r->dialogue, r->reply, "", 0, 0);
    else
        fail(r, status_of(rv, STORE_STATUS_NOT_FOUND));
}

static void flush(const request_t *r)
{
    store_verbs_flush(&r->dialogue->caller, r->dialogue->head.extras_length == 4
                                                ? store_net_get32(r->extras)
                                                : 0);
    store_packet_done(r->dialogue, r->reply, "", 0, 0);
}

static void quit(const request_t *r)
{
    store_key_unlock_all(&r->dialogue->caller);
    store_packet_done(r->dialogue, r->reply, "", 0, 0);
    r->dialogue->over = 1;
}

static void noop(const request_t *r)
{
    store_packet_done(r->dialogue, r->reply, "", 0, 0);
}

static void version(const request_t *r)
{
    store_packet_done(r->dialogue, r->reply, STORE_SENT_VERSION,
                      sizeof STORE_SENT_VERSION - 1, 0);
}

static void statistics(const request_t *r)
{
    if (!store_stats_binary(r->dialogue, (store_token_t){r->key, r->klen},
                            r->reply))
        fail(r, STORE_STATUS_NOT_FOUND);
}

static void unknown(const request_t *r)
{
    fail(r, STORE_STATUS_UNKNOWN);
}

/* ---- dispatch ---- */

/* Quiet opcodes, and what they are otherwise. */
static const struct {
    uint8_t quiet, loud;
} pairs[] = {
    {STORE_OP_GETQ, STORE_OP_GET},
    {STORE_OP_GETKQ, STORE_OP_GETK},
    {STORE_OP_SETQ, STORE_OP_SET},
    {STORE_OP_ADDQ, STORE_OP_ADD},
    {STORE_OP_REPLACEQ, STORE_OP_REPLACE},
    {STORE_OP_DELETEQ, STORE_OP_DELETE},
    {STORE_OP_INCREMENTQ, STORE_OP_INCREMENT},
    {STORE_OP_DECREMENTQ, STORE_OP_DECREMENT},
    {STORE_OP_QUITQ, STORE_OP_QUIT},
    {STORE_OP_FLUSHQ, STORE_OP_FLUSH},
    {STORE_OP_APPENDQ, STORE_OP_APPEND},
    {STORE_OP_PREPENDQ, STORE_OP_PREPEND},
    {STORE_OP_GATQ, STORE_OP_GAT},
    {STORE_OP_GATKQ, STORE_OP_GATK},
    {STORE_OP_LOCKQ, STORE_OP_LOCK},
    {STORE_OP_UNLOCKQ, STORE_OP_UNLOCK},
    {STORE_OP_UNLOCK_ALLQ, STORE_OP_UNLOCK_ALL},
    {STORE_OP_LAGQ, STORE_OP_LAG},
    {STORE_OP_LAGKQ, STORE_OP_LAGK},
    {STORE_OP_RAUQ, STORE_OP_RAU},
};

static uint8_t loud(store_dialogue_t *dialogue, uint8_t opcode)
{
    size_t i;

    dialogue->quiet = 0;
    for (i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (pairs[i].quiet == opcode) {
            dialogue->quiet = 1;
            return pairs[i].loud;
        }
    return opcode;
}

/* What a request may have behind its head. What stores a value writes when it
 * has arrived; the others write now. */
enum { NO_KEY = 1, MAY_KEY = 2, VALUE = 4, OR_NO_EXTRAS = 8, WRITES = 16 };

static const struct {
    uint8_t opcode, extras, shape;
    void (*serve)(const request_t *);
} requests[] = {
    {STORE_OP_GET, 0, 0, fetch},
    {STORE_OP_GETK, 0, 0, fetch},
    {STORE_OP_GAT, 4, VALUE, fetch},
    {STORE_OP_GATK, 4, VALUE, fetch},
    {STORE_OP_TOUCH, 4, VALUE, fetch},
    {STORE_OP_SET, 8, VALUE, update},
    {STORE_OP_ADD, 8, VALUE, update},
    {STORE_OP_REPLACE, 8, VALUE, update},
    {STORE_OP_APPEND, 0, VALUE, update},
    {STORE_OP_PREPEND, 0, VALUE, update},
    {STORE_OP_DELETE, 0, WRITES, delete_key},
    {STORE_OP_INCREMENT, 20, WRITES, delta},
    {STORE_OP_DECREMENT, 20, WRITES, delta},
    {STORE_OP_QUIT, 0, NO_KEY, quit},
    {STORE_OP_FLUSH, 4, NO_KEY | OR_NO_EXTRAS | WRITES, flush},
    {STORE_OP_NOOP, 0, NO_KEY, noop},
    {STORE_OP_VERSION, 0, NO_KEY, version},
    {STORE_OP_STAT, 0, MAY_KEY | VALUE, statistics},
    {STORE_OP_SASL_LIST, 0, NO_KEY, unknown},
    {STORE_OP_SASL_AUTH, 0, VALUE, unknown},
    {STORE_OP_SASL_STEP, 0, VALUE, unknown},
    {STORE_OP_LOCK, 0, 0, lock},
    {STORE_OP_UNLOCK, 0, 0, unlock},
    {STORE_OP_UNLOCK_ALL, 0, NO_KEY, unlock_all},
    {STORE_OP_LAG, 4, OR_NO_EXTRAS, fetch},
    {STORE_OP_LAGK, 4, OR_NO_EXTRAS, fetch},
    {STORE_OP_RAU, 8, VALUE, replace_and_unlock},
    {STORE_OP_KEYS, 0, MAY_KEY, keys},
};

static int fits(const request_t *r, uint8_t extras, uint8_t shape)
{
    uint8_t given = r->dialogue->head.extras_length;

    if (given != extras && !(shape & OR_NO_EXTRAS && given == 0))
        return 0;
    if (shape & NO_KEY ? r->klen > 0 : r->klen == 0 && !(shape & MAY_KEY))
        return 0;
    return r->value == 0 || shape & VALUE;
}

/* A fetch with an expiry time is a touch. */
static int is_allowed(const request_t *r, uint8_t shape,
                      void (*verb)(const request_t *))
{
    int touches = verb == fetch && r->dialogue->head.extras_length == 4;

    if ((!(shape & WRITES) && !touches) || store_writes_begin(r->dialogue))
        return 1;
    store_writes_refuse(r->dialogue, r->reply);
    return 0;
}

static void serve(const request_t *r)
{
    size_t i;

    for (i = 0; i < sizeof requests / sizeof *requests; i++) {
        if (requests[i].opcode != r->opcode)
            continue;
        if (!fits(r, requests[i].extras, requests[i].shape)) {
            refuse(r);
            return;
        }
        /* A value that the verb does not take is passed over. */
        store_value_swallow(r->dialogue, r->value);
        if (is_allowed(r, requests[i].shape, requests[i].serve))
            requests[i].serve(r);
        return;
    }
    store_value_swallow(r->dialogue, r->value);
    unknown(r);
}

size_t store_binary_input(store_dialogue_t *dialogue, const char *bytes,
                          size_t n, store_reply_t *reply)
{
    store_packet_head_t *head = &dialogue->head;
    request_t r = {.dialogue = dialogue, .reply = reply};
    size_t before;

    if (!store_packet_read(dialogue, bytes, n))
        return 0;
    r.opcode = loud(dialogue, head->opcode);
    before = (size_t)head->key_length + head->extras_length;
    if (before > head->body_length) {
        unknown(&r);
        dialogue->over = 1;
        return 0;
    }
    if (head->key_length > STORE_KEY_MAX) {
        refuse(&r);
        return 0;
    }
    if (n < STORE_PACKET_HEAD + before)
        return 0;
    r.extras = bytes + STORE_PACKET_HEAD;
    r.key = r.extras + head->extras_length;
    r.klen = (uint8_t)head->key_length;
    r.value = head->body_length - (uint32_t)before;
    serve(&r);
    return STORE_PACKET_HEAD + before;
}
