/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/clock.h"
#include "store/command/binary.h"
#include "store/command/binary_request.h"
#include "store/command/value.h"

static void begin(const store_request_t *r, store_update_t how)
{
    bool whole = r->session->head.extras_length == 8;
    bool drops = how.mode == STORE_MODE_SET;
    uint32_t flags = whole ? store_net_get32(r->extras) : 0;
    uint32_t exptime =
        whole ? store_clock_exptime(store_net_get32(r->extras + 4)) : 0;

    how.cas = r->session->head.cas;
    if (whole && how.cas != 0)
        how.mode = STORE_MODE_CAS;
    switch (store_value_begin(r->session, STORE_PROTOCOL_BINARY, r->key,
                              r->klen, flags, exptime, r->value, &how)) {
    case STORE_VALUE_BEGUN:
        return;
    case STORE_VALUE_TOO_LARGE:
        store_packet_error(r->session, r->reply, STORE_STATUS_TOO_LARGE, NULL);
        break;
    case STORE_VALUE_TOO_MANY:
        store_packet_error(r->session, r->reply, STORE_STATUS_NO_MEMORY,
                           "Too many large values at a time");
        break;
    default:
        store_packet_error(r->session, r->reply, STORE_STATUS_NO_MEMORY,
                           "Out of memory allocating item");
        break;
    }
    if (drops)
        store_verbs_drop(&r->session->caller, r->key, r->klen);
}

void store_binary_set(const store_request_t *r, store_mode_t mode)
{
    begin(r, (store_update_t){.mode = mode});
}

void store_binary_replace_and_unlock(const store_request_t *r)
{
    begin(r, (store_update_t){.mode = STORE_MODE_REPLACE, .unlock = true});
}

void store_binary_stored(store_session_t *session, store_reply_t *reply)
{
    unsigned status;
    uint64_t cas;

    switch (
        store_update(&session->caller, session->item, &session->update, &cas)) {
    case STORE_DONE:
        store_packet_done(session, reply, "", 0, cas);
        return;
    case STORE_EXISTS:
        status = STORE_STATUS_EXISTS;
        break;
    case STORE_NOT_FOUND:
        status = STORE_STATUS_NOT_FOUND;
        break;
    case STORE_LOCKED_OUT:
        status = STORE_STATUS_LOCKED;
        break;
    case STORE_NOT_LOCKED:
        status = STORE_STATUS_NOT_LOCKED;
        break;
    default:
        status = session->update.mode == STORE_MODE_ADD ? STORE_STATUS_EXISTS
                 : session->update.mode == STORE_MODE_REPLACE
                     ? STORE_STATUS_NOT_FOUND
                     : STORE_STATUS_NOT_STORED;
        break;
    }
    store_packet_error(session, reply, status, NULL);
}
