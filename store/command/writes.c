/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/command/writes.h"

#include "store/command/answer.h"
#include "store/command/packet.h"

#define WORDS "not confirmed by a slave"

bool store_writes_begin(store_session_t *session)
{
    if (STORE_GET(session->caller.space->confirm) == STORE_CONFIRM_REFUSE &&
        !(session->server->can_confirm && session->server->can_confirm())) {
        store_count(session->caller.counters, STORE_NOT_CONFIRMED, 1);
        return false;
    }
    session->writes++;
    return true;
}

void store_writes_refuse(const store_session_t *session, store_reply_t *reply)
{
    if (session->protocol == STORE_PROTOCOL_BINARY)
        store_packet_error(session, reply, STORE_STATUS_TEMPORARY, WORDS);
    else
        store_answer(session, reply, "SERVER_ERROR " WORDS);
}

unsigned store_session_writes(store_session_t *session)
{
    unsigned n = session->writes;

    session->writes = 0;
    return n;
}

void store_session_unconfirmed(store_session_t *session, store_reply_t *reply,
                               bool goes_on)
{
    store_writes_refuse(session, reply);
    session->over |= !goes_on;
}
