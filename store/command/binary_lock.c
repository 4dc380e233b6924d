/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/command/binary_request.h"
#include "store/command/dump.h"

void store_binary_locked(const store_session_t *session, store_reply_t *reply,
                         store_result_t rv)
{
    switch (rv) {
    case STORE_NOT_FOUND:
        store_packet_error(session, reply, STORE_STATUS_NOT_FOUND, NULL);
        break;
    case STORE_LOCKED_OUT:
        store_packet_error(session, reply, STORE_STATUS_LOCKED, NULL);
        break;
    case STORE_NOT_LOCKED:
        store_packet_error(session, reply, STORE_STATUS_NOT_LOCKED, NULL);
        break;
    case STORE_TOO_MANY_LOCKS:
        store_packet_error(session, reply, STORE_STATUS_NO_MEMORY,
                           STORE_LOCKS_TEXT);
        break;
    default:
        store_packet_error(session, reply, STORE_STATUS_NO_MEMORY, NULL);
        break;
    }
}

static void answer(const store_request_t *r, store_result_t rv)
{
    if (rv == STORE_DONE)
        store_packet_done(r->session, r->reply, "", 0, 0);
    else
        store_binary_locked(r->session, r->reply, rv);
}

void store_binary_lock(const store_request_t *r)
{
    answer(r, store_key_lock(&r->session->caller, r->key, r->klen));
}

void store_binary_unlock(const store_request_t *r)
{
    answer(r, store_key_unlock(&r->session->caller, r->key, r->klen));
}

void store_binary_unlock_all(const store_request_t *r)
{
    store_key_unlock_all(&r->session->caller);
    answer(r, STORE_DONE);
}

void store_binary_keys(const store_request_t *r)
{
    store_dump_keys(r->session, (store_token_t){r->key, r->klen});
}
