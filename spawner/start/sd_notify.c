/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/start/start.h"

#include <string.h>

#include "spawner/process/process.h"
#include "spawner/process/guarded_socket.h"
#include "spawner/output/output.h"

#define MESSAGES 16 /* of one app, before other apps have their turn */

static int says(const char *message, const char *line)
{
    size_t n = strlen(line);
    const char *at = message;

    do {
        if (strncmp(at, line, n) == 0 && (at[n] == 0 || at[n] == '\n'))
            return 1;
        at = strchr(at, '\n');
    } while (at && *++at);
    return 0;
}

/* The record comes first, so that the next spawner knows it. */
static void stopping(spawner_t *s, process_t *p)
{
    if (p->is.stops_itself)
        return;
    p->is.stops_itself = 1;
    process_record(p, p->is.state);
    app_log(p, LOG_INFO, "stops itself");
    state_wake(s, s->now);
}

/* This is recorded as well, because the app says it only once. */
static void says_ready(spawner_t *s, process_t *p)
{
    if (p->is.says_ready || p->phase != PHASE_BOOTING)
        return;
    p->is.says_ready = 1;
    process_record(p, p->is.state);
    state_wake(s, s->now);
}

void sd_notify_read(void *owner, uint32_t events)
{
    spawner_t *s = state_spawner();
    process_t *p = owner;
    char message[4096];
    ssize_t n;
    int i, sent;

    (void)events;
    for (i = 0; i < MESSAGES && p->notify.fd >= 0; i++) {
        n = guarded_socket_recv(p->notify.fd, message, sizeof message - 1,
                                &sent);
        if (n < 0)
            return;
        message[n] = 0;
        if (p->forking.state != FORKING_NOT)
            message[0] = 0; /* it has run no code of the app yet */
        if (says(message, "READY=1"))
            says_ready(s, p);
        if (says(message, "STOPPING=1"))
            stopping(s, p);
        if (sent) {
            app_log(p, LOG_WARN,
                    "sent a descriptor to $NOTIFY_SOCKET: "
                    "nothing more is read from there");
            guarded_socket_drop(&p->notify);
        }
    }
}
