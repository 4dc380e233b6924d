/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/command/counter_wire.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/command/packet.h"

/* Places of the table that one slice of a Dump looks at, and bytes of it: the
 * longest response fits. */
#define SLICE 256
#define ROOM  (2 * STORE_COUNTER_REQUEST)

#define STAT  48 /* bytes of the longest statistic */

enum {
    NOOP = 0x00,
    GET = 0x01,
    ACQUIRE = 0x02,
    RELEASE = 0x03,
    STATS = 0x10,
    DUMP = 0x11
};

/* A request, and its body. */
typedef struct {
    store_session_t *session;
    store_reply_t *reply;
    const char *body;
    uint32_t length;
} request_t;

static void fill(const store_session_t *session, char *head, unsigned status,
                 uint32_t length)
{
    head[0] = (char)STORE_COUNTER_RESPONSE;
    head[1] = (char)session->head.opcode;
    head[2] = (char)status;
    head[3] = 0;
    store_packet_put_u32(head + 4, length);
    memcpy(head + 8, &session->head.opaque, 4);
}

static void respond(const request_t *r, unsigned status, const char *body,
                    size_t n)
{
    char head[STORE_COUNTER_HEAD];

    fill(r->session, head, status, (uint32_t)n);
    store_reply_copy(r->reply, head, sizeof head);
    store_reply_copy(r->reply, body, n);
}

static const char *words_of(store_counter_status_t status)
{
    switch (status) {
    case STORE_COUNTER_NOT_FOUND:
        return "Not found";
    case STORE_COUNTER_INVALID:
        return "Invalid arguments";
    case STORE_COUNTER_UNAVAILABLE:
        return "Resource not available";
    case STORE_COUNTER_NOT_ACQUIRED:
        return "Not acquired";
    case STORE_COUNTER_UNKNOWN:
        return "Unknown command";
    case STORE_COUNTER_TOO_MANY:
        return "too many counters: a connection can hold at most 1024";
    default:
        return "Out of memory: too many counters, or too long names";
    }
}

/* Success has a body of 4 bytes, or none (n = 0). */
static void answer(const request_t *r, store_counter_status_t status,
                   uint32_t number, size_t n)
{
    const char *words = words_of(status);
    char body[4];

    store_packet_put_u32(body, number);
    if (status == STORE_COUNTER_DONE)
        respond(r, status, body, n);
    else
        respond(r, status & 0xffu, words, strlen(words));
}

/* @param at where the length of the name is
 * @return false: the name is empty, or is not in the body */
static bool name_at(const request_t *r, uint32_t at, store_counter_name_t *name)
{
    if (r->length < at + 2)
        return false;
    name->n = store_packet_u16(r->body + at);
    name->at = r->body + at + 2;
    return name->n > 0 && name->n <= r->length - at - 2;
}

static void get(const request_t *r)
{
    store_counter_status_t rv = STORE_COUNTER_INVALID;
    store_counter_name_t name;
    uint32_t consumption = 0;

    if (name_at(r, 0, &name))
        rv = store_counter_get(r->session->counters, name, &consumption);
    answer(r, rv, consumption, 4);
}

static void acquire(const request_t *r)
{
    store_counter_status_t rv = STORE_COUNTER_INVALID;
    store_counter_name_t name;
    uint32_t resources = 0;

    if (name_at(r, 8, &name)) {
        uint32_t maximum = store_packet_u32(r->body + 4);

        resources = store_packet_u32(r->body);
        if (resources > 0 && resources <= maximum)
            rv = store_counter_acquire(r->session->counters,
                                       &r->session->holdings, name, resources,
                                       maximum);
    }
    answer(r, rv, resources, 4);
}

static void release(const request_t *r)
{
    store_counter_status_t rv = STORE_COUNTER_INVALID;
    store_counter_name_t name;

    if (name_at(r, 4, &name))
        rv = store_counter_release(r->session->counters, &r->session->holdings,
                                   name, store_packet_u32(r->body));
    answer(r, rv, 0, 0);
}

/* @param at STAT bytes */
static size_t add_stat(char *at, const char *name, uint64_t value)
{
    size_t n = strlen(name), m;

    memcpy(at + 4, name, n);
    m = (size_t)snprintf(at + 4 + n, STAT - 4 - n, "%" PRIu64, value);
    at[0] = at[2] = 0;
    at[1] = (char)n;
    at[3] = (char)m;
    return 4 + n + m;
}

static void stats(const request_t *r)
{
    const store_space_t *space = r->session->caller.space;
    store_counter_figures_t figures = store_counter_figures(space);
    const struct {
        const char *name;
        uint64_t value;
    } lines[] = {
        {"objects", figures.objects},
        {"total_objects", figures.objects_total},
        {"used_memory", figures.bytes},
        {"curr_connections", STORE_GET(space->figures->connections)},
    };
    char body[sizeof lines / sizeof *lines * STAT];
    size_t n = 0;

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        n += add_stat(body + n, lines[i].name, lines[i].value);
    respond(r, STORE_COUNTER_DONE, body, n);
}

/* ---- Dump ---- */

typedef struct {
    const store_session_t *session;
    char *text;
    size_t n;
} dump_t;

static bool look(void *ctx, const store_counter_view_t *view)
{
    dump_t *dump = ctx;
    uint32_t length = 10u + view->name.n;
    char *at = dump->text + dump->n;

    if (STORE_COUNTER_HEAD + length > ROOM - dump->n)
        return false;
    fill(dump->session, at, STORE_COUNTER_DONE, length);
    at += STORE_COUNTER_HEAD;
    store_packet_put_u32(at, view->consumption);
    store_packet_put_u32(at + 4, view->most);
    at[8] = (char)(view->name.n >> 8);
    at[9] = (char)view->name.n;
    memcpy(at + 10, view->name.at, view->name.n);
    dump->n += STORE_COUNTER_HEAD + length;
    return true;
}

void store_counter_wire_dump(store_session_t *session, store_reply_t *reply)
{
    dump_t dump = {session, malloc(ROOM), 0};
    bool more;

    if (dump.text == NULL) {
        session->over = true;
        return;
    }
    more = store_counter_walk(session->counters, &session->dump_cursor, SLICE,
                              look, &dump);
    store_reply_copy(reply, dump.text, dump.n);
    free(dump.text);
    if (more)
        return;
    session->phase = STORE_PHASE_COMMAND;
    respond(&(request_t){session, reply, NULL, 0}, STORE_COUNTER_DONE, "", 0);
}

/* ---- requests ---- */

static void serve(const request_t *r)
{
    switch (r->session->head.opcode) {
    case NOOP:
        answer(r, STORE_COUNTER_DONE, 0, 0);
        break;
    case GET:
        get(r);
        break;
    case ACQUIRE:
        acquire(r);
        break;
    case RELEASE:
        release(r);
        break;
    case STATS:
        stats(r);
        break;
    case DUMP:
        r->session->dump_cursor = 0;
        r->session->phase = STORE_PHASE_DUMP;
        break;
    default:
        answer(r, STORE_COUNTER_UNKNOWN, 0, 0);
        break;
    }
}

/* @return false: the session is over */
static bool begin(store_session_t *session)
{
    if (session->counters == NULL)
        session->counters = store_counter_table(session->caller.space);
    session->over = session->counters == NULL;
    return !session->over;
}

size_t store_counter_wire_input(store_session_t *session, const char *bytes,
                                size_t n, store_reply_t *reply)
{
    request_t r = {session, reply, bytes + STORE_COUNTER_HEAD, 0};

    if (n < STORE_COUNTER_HEAD || !begin(session))
        return 0;
    session->head.opcode = (uint8_t)bytes[1];
    r.length = store_packet_u32(bytes + 4);
    memcpy(&session->head.opaque, bytes + 8, 4);
    if ((uint8_t)bytes[0] != STORE_COUNTER_MAGIC ||
        r.length > STORE_COUNTER_REQUEST - STORE_COUNTER_HEAD) {
        answer(&r, STORE_COUNTER_INVALID, 0, 0);
        session->over = true;
        return 0;
    }
    if (n - STORE_COUNTER_HEAD < r.length)
        return 0;
    serve(&r);
    return STORE_COUNTER_HEAD + r.length;
}

void store_counter_wire_end(store_session_t *session)
{
    if (session->counters)
        store_counter_release_all(session->counters, &session->holdings);
}
