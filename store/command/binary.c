/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/command/binary.h"

#include <string.h>

#include "store/clock.h"
#include "store/command/binary_request.h"
#include "store/command/delta.h"
#include "store/command/stats.h"
#include "store/command/value.h"
#include "store/command/writes.h"

/* Opcodes, without the quiet ones. */
enum {
    GET = 0x00,
    SET = 0x01,
    ADD = 0x02,
    REPLACE = 0x03,
    DELETE = 0x04,
    INCREMENT = 0x05,
    DECREMENT = 0x06,
    QUIT = 0x07,
    FLUSH = 0x08,
    NOOP = 0x0a,
    VERSION = 0x0b,
    GETK = 0x0c,
    APPEND = 0x0e,
    PREPEND = 0x0f,
    STAT = 0x10,
    TOUCH = 0x1c,
    GAT = 0x1d,
    SASL_LIST = 0x20,
    SASL_AUTH = 0x21,
    SASL_STEP = 0x22,
    GATK = 0x23,
    LOCK = 0x40,
    UNLOCK = 0x42,
    UNLOCK_ALL = 0x44,
    LAG = 0x46,
    LAGK = 0x48,
    RAU = 0x4a,
    KEYS = 0x50
};

/* The quiet ones. */
static const struct {
    uint8_t quiet, loud;
} pairs[] = {
    {0x09, GET},        {0x0d, GETK},   {0x11, SET},       {0x12, ADD},
    {0x13, REPLACE},    {0x14, DELETE}, {0x15, INCREMENT}, {0x16, DECREMENT},
    {0x17, QUIT},       {0x18, FLUSH},  {0x19, APPEND},    {0x1a, PREPEND},
    {0x1e, GAT},        {0x24, GATK},   {0x41, LOCK},      {0x43, UNLOCK},
    {0x45, UNLOCK_ALL}, {0x47, LAG},    {0x49, LAGK},      {0x4b, RAU},
};

static uint8_t loud(store_session_t *session, uint8_t opcode)
{
    session->quiet = false;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (pairs[i].quiet == opcode) {
            session->quiet = true;
            return pairs[i].loud;
        }
    return opcode;
}

static void fail(const store_request_t *r, unsigned status)
{
    store_packet_error(r->session, r->reply, status, NULL);
}

/* Lengths that do not fit the opcode. */
static void refuse(const store_request_t *r)
{
    fail(r, STORE_STATUS_INVALID);
    r->session->over = true;
}

/* ---- fetch ---- */

static void found(const store_request_t *r, store_item_t *item)
{
    bool with_key = r->opcode == GETK || r->opcode == GATK || r->opcode == LAGK;
    bool with_value = r->opcode != TOUCH;
    uint16_t klen = with_key ? r->klen : 0;
    char flags[4];

    store_packet_head(r->session, r->reply, STORE_STATUS_OK, 4, klen,
                      4 + (uint32_t)klen + (with_value ? item->length : 0),
                      item->cas);
    store_packet_put_u32(flags, item->flags);
    store_reply_copy(r->reply, flags, sizeof flags);
    store_reply_copy(r->reply, r->key, klen);
    if (with_value)
        store_reply_value(r->reply, r->session->caller.space, item);
}

/* yrmcds reports a miss of a quiet lock-and-get, too. */
static void missed(const store_request_t *r)
{
    if (r->opcode == LAG || r->opcode == LAGK) {
        fail(r, STORE_STATUS_NOT_FOUND);
        return;
    }
    if (r->session->quiet)
        return;
    if (r->opcode != GETK && r->opcode != GATK) {
        fail(r, STORE_STATUS_NOT_FOUND);
        return;
    }
    store_packet_head(r->session, r->reply, STORE_STATUS_NOT_FOUND, 0, r->klen,
                      r->klen, 0);
    store_reply_copy(r->reply, r->key, r->klen);
}

static void fetch(const store_request_t *r)
{
    store_fetch_t f = {.touch = r->session->head.extras_length == 4,
                       .lock = r->opcode == LAG || r->opcode == LAGK};
    store_item_t *item;

    if (f.touch)
        f.exptime = store_clock_exptime(store_packet_u32(r->extras));
    item = store_verbs_fetch(&r->session->caller, r->key, r->klen, &f);
    if (item) {
        found(r, item);
        store_item_release(r->session->caller.space, item);
    }
    else if (f.refused) {
        store_binary_locked(r->session, r->reply, f.refused);
    }
    else {
        missed(r);
    }
}

/* ---- update ---- */

static store_mode_t mode_of(const store_request_t *r)
{
    switch (r->opcode) {
    case ADD:
        return STORE_MODE_ADD;
    case REPLACE:
        return STORE_MODE_REPLACE;
    case APPEND:
        return STORE_MODE_APPEND;
    case PREPEND:
        return STORE_MODE_PREPEND;
    default:
        return STORE_MODE_SET;
    }
}

static void update(const store_request_t *r)
{
    store_binary_set(r, mode_of(r));
}

/* ---- other verbs ---- */

static void delta(const store_request_t *r)
{
    uint32_t exptime = store_packet_u32(r->extras + 16);
    store_delta_t d = {.decrement = r->opcode == DECREMENT,
                       .delta = store_packet_u64(r->extras),
                       .cas = r->session->head.cas,
                       .vivify = exptime != UINT32_MAX,
                       .initial = store_packet_u64(r->extras + 8)};
    char value[8];

    if (d.vivify)
        d.vivify_exptime = store_clock_exptime(exptime);
    switch (store_delta_apply(&r->session->caller, r->key, r->klen, &d)) {
    case STORE_DONE:
    case STORE_CREATED:
        store_packet_put_u64(value, d.value);
        store_packet_done(r->session, r->reply, value, sizeof value, d.new_cas);
        break;
    case STORE_EXISTS:
        fail(r, STORE_STATUS_EXISTS);
        break;
    case STORE_NOT_NUMERIC:
        fail(r, STORE_STATUS_NOT_NUMERIC);
        break;
    case STORE_NOT_FOUND:
        fail(r, STORE_STATUS_NOT_FOUND);
        break;
    case STORE_LOCKED_OUT:
        fail(r, STORE_STATUS_LOCKED);
        break;
    default:
        store_packet_error(r->session, r->reply, STORE_STATUS_NO_MEMORY,
                           "Out of memory incrementing value");
        break;
    }
}

static void delete_key(const store_request_t *r)
{
    store_delete_t how = {.cas = r->session->head.cas,
                          .has_cas = r->session->head.cas != 0};

    switch (store_verbs_delete(&r->session->caller, r->key, r->klen, &how)) {
    case STORE_DONE:
        store_packet_done(r->session, r->reply, "", 0, 0);
        break;
    case STORE_EXISTS:
        fail(r, STORE_STATUS_EXISTS);
        break;
    case STORE_LOCKED_OUT:
        fail(r, STORE_STATUS_LOCKED);
        break;
    default:
        fail(r, STORE_STATUS_NOT_FOUND);
        break;
    }
}

static void flush(const store_request_t *r)
{
    store_verbs_flush(&r->session->caller, r->session->head.extras_length == 4
                                               ? store_packet_u32(r->extras)
                                               : 0);
    store_packet_done(r->session, r->reply, "", 0, 0);
}

static void quit(const store_request_t *r)
{
    store_key_unlock_all(&r->session->caller);
    store_packet_done(r->session, r->reply, "", 0, 0);
    r->session->over = true;
}

static void noop(const store_request_t *r)
{
    store_packet_done(r->session, r->reply, "", 0, 0);
}

static void version(const store_request_t *r)
{
    store_packet_done(r->session, r->reply, STORE_SENT_VERSION,
                      sizeof STORE_SENT_VERSION - 1, 0);
}

static void statistics(const store_request_t *r)
{
    if (!store_stats_binary(r->session, (store_token_t){r->key, r->klen},
                            r->reply))
        fail(r, STORE_STATUS_NOT_FOUND);
}

static void unknown(const store_request_t *r)
{
    fail(r, STORE_STATUS_UNKNOWN);
}

/* ---- dispatch ---- */

/* What a request may have behind its head. What stores a value writes when it
 * has arrived; the others write now. */
enum { NO_KEY = 1, MAY_KEY = 2, VALUE = 4, OR_NO_EXTRAS = 8, WRITES = 16 };

static const struct {
    uint8_t opcode, extras, shape;
    void (*serve)(const store_request_t *);
} requests[] = {
    {GET, 0, 0, fetch},
    {GETK, 0, 0, fetch},
    {GAT, 4, VALUE, fetch},
    {GATK, 4, VALUE, fetch},
    {TOUCH, 4, VALUE, fetch},
    {SET, 8, VALUE, update},
    {ADD, 8, VALUE, update},
    {REPLACE, 8, VALUE, update},
    {APPEND, 0, VALUE, update},
    {PREPEND, 0, VALUE, update},
    {DELETE, 0, WRITES, delete_key},
    {INCREMENT, 20, WRITES, delta},
    {DECREMENT, 20, WRITES, delta},
    {QUIT, 0, NO_KEY, quit},
    {FLUSH, 4, NO_KEY | OR_NO_EXTRAS | WRITES, flush},
    {NOOP, 0, NO_KEY, noop},
    {VERSION, 0, NO_KEY, version},
    {STAT, 0, MAY_KEY | VALUE, statistics},
    {SASL_LIST, 0, NO_KEY, unknown},
    {SASL_AUTH, 0, VALUE, unknown},
    {SASL_STEP, 0, VALUE, unknown},
    {LOCK, 0, 0, store_binary_lock},
    {UNLOCK, 0, 0, store_binary_unlock},
    {UNLOCK_ALL, 0, NO_KEY, store_binary_unlock_all},
    {LAG, 4, OR_NO_EXTRAS, fetch},
    {LAGK, 4, OR_NO_EXTRAS, fetch},
    {RAU, 8, VALUE, store_binary_replace_and_unlock},
    {KEYS, 0, MAY_KEY, store_binary_keys},
};

static bool fits(const store_request_t *r, uint8_t extras, uint8_t shape)
{
    uint8_t given = r->session->head.extras_length;

    if (given != extras && !(shape & OR_NO_EXTRAS && given == 0))
        return false;
    if (shape & NO_KEY ? r->klen > 0 : r->klen == 0 && !(shape & MAY_KEY))
        return false;
    return r->value == 0 || shape & VALUE;
}

/* A fetch with an expiry time is a touch. */
static bool is_allowed(const store_request_t *r, uint8_t shape,
                       void (*verb)(const store_request_t *))
{
    bool touches = verb == fetch && r->session->head.extras_length == 4;

    if ((!(shape & WRITES) && !touches) || store_writes_begin(r->session))
        return true;
    store_writes_refuse(r->session, r->reply);
    return false;
}

static void serve(const store_request_t *r)
{
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        if (requests[i].opcode != r->opcode)
            continue;
        if (!fits(r, requests[i].extras, requests[i].shape)) {
            refuse(r);
            return;
        }
        /* A value that the verb does not take is passed over. */
        store_value_swallow(r->session, r->value);
        if (is_allowed(r, requests[i].shape, requests[i].serve))
            requests[i].serve(r);
        return;
    }
    store_value_swallow(r->session, r->value);
    unknown(r);
}

size_t store_binary_input(store_session_t *session, const char *bytes, size_t n,
                          store_reply_t *reply)
{
    store_binary_head_t *head = &session->head;
    store_request_t r = {.session = session, .reply = reply};
    size_t before;

    if (!store_packet_read(session, bytes, n))
        return 0;
    r.opcode = loud(session, head->opcode);
    before = (size_t)head->key_length + head->extras_length;
    if (before > head->body_length) {
        unknown(&r);
        session->over = true;
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
