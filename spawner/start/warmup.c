/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/start/start.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "spawner/process/guarded_socket.h"

#define PAUSE   (SECOND / 4) /* between two requests */
#define PATIENT SECOND       /* for the rest of a response */
#define CHUNKS  16 /* of one response, before other sources have their turn */

static int ask(process_t *p, const app_entry_t *app)
{
    char request[2048];
    int n = snprintf(request, sizeof request,
                     "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n"
                     "User-Agent: mod_apppool (AppReady)\r\n\r\n",
                     app->ready, app->host);

    return n < (int)sizeof request &&
           send(p->ready.probe, request, (size_t)n, MSG_NOSIGNAL) == n;
}

/* @return the status; 0: it is no HTTP response */
static int status_of(const warmup_t *w)
{
    if (w->length < sizeof w->line || memcmp(w->line, "HTTP/1.", 7) != 0 ||
        w->line[8] != ' ' || w->line[9] < '1' || w->line[9] > '5' ||
        w->line[10] < '0' || w->line[10] > '9' || w->line[11] < '0' ||
        w->line[11] > '9')
        return 0;
    return (w->line[9] - '0') * 100 + (w->line[10] - '0') * 10 +
           (w->line[11] - '0');
}

/* @return 1: there is nothing more to read */
static int response_ended(const spawner_t *s, process_t *p)
{
    char chunk[16384];
    warmup_t *w = &p->warmup;
    ssize_t n = -1;
    int i, sent;

    for (i = 0; i < CHUNKS; i++) {
        size_t room = sizeof w->line - w->length;
        size_t take;

        n = guarded_socket_recv(p->ready.probe, chunk, sizeof chunk, &sent);
        if (n <= 0)
            break;
        take = (size_t)n < room ? (size_t)n : room;
        memcpy(w->line + w->length, chunk, take);
        w->length += take;
        if (sent)
            return 1; /* nothing behind the descriptor can be read */
        if (w->length == sizeof w->line && w->read_until == 0)
            w->read_until = s->now + PATIENT;
    }
    if (n < 0)
        return (errno != EAGAIN && errno != EINTR) ||
               (w->read_until != 0 && s->now >= w->read_until);
    return n == 0 || (w->read_until != 0 && s->now >= w->read_until);
}

int warmup_check(const spawner_t *s, process_t *p, const app_entry_t *app)
{
    warmup_t *w = &p->warmup;

    /* The protocol is that of the process: the configuration may have another
     * one by now. */
    if (!app || !app->ready || p->is.wire.protocol != APL_HTTP)
        return 1;
    if (!w->sent && s->now < w->not_before)
        return 0;
    if (!w->sent) {
        w->sent = 1;
        w->sent_at = s->now;
        w->length = 0;
        w->read_until = 0;
        w->not_before = s->now + PAUSE;
        if (ask(p, app))
            return 0;
    }
    else if (!response_ended(s, p))
        return 0;
    guarded_socket_close(p->ready.probe);
    p->ready.probe = -1;
    w->sent = 0;
    w->status = status_of(w);
    return w->status >= 200 && w->status < 400;
}

void warmup_missing(const process_t *p, const app_entry_t *app, char text[256])
{
    const warmup_t *w = &p->warmup;
    char last[32] = "there was no response";

    if (w->status != 0)
        snprintf(last, sizeof last, "the last status was %d", w->status);
    snprintf(text, 256, "it did not respond to GET %.128s with 2xx or 3xx (%s)",
             app && app->ready ? app->ready : "/", last);
}
