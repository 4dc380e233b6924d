/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "spawner/process/sock_diag.h"
#include "spawner/end/end.h"
#include "spawner/output/output.h"
#include "spawner/start/start.h"
#include "spawner/process/process.h"
#include "spawner/process/guarded_socket.h"
#include "spawner/process/socket_owner.h"

#define POLL_MIN  1000 /* us between two checks */
#define POLL_MAX  50000
#define POLL_PART 16 /* of the time since the start, or since the request */

/* If another connection is before the probe, the probe says nothing: a server
 * that serves one connection after the other may be reading from the first one.
 * So a probe that is too old is closed, and a new one is made. */
#define PROBE_AGE SECOND

/* A READY=1 that comes while no spawner runs is lost. So an adopted app that
 * accepts connections need not say READY=1 after this time. */
#define SILENCE   (5 * SECOND)

/* What a check found out about the listening socket of an app. */
enum { NOT_SEEN, SEEN_EMPTY, SEEN_QUEUED, SEEN_FOREIGN };

static int asks(const process_t *p)
{
    return p->phase == PHASE_BOOTING && p->is.pid > 0 && !p->gone &&
           !state_is_template(p);
}

/* Was the connection made? With TCP that takes a moment. */
static int is_connected(int fd)
{
    struct pollfd poller = {fd, POLLOUT, 0};
    int error = 0;
    socklen_t length = sizeof error;

    return poll(&poller, 1, 0) == 1 && !(poller.revents & POLLERR) &&
           getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) == 0 &&
           error == 0;
}

/* If the app binds its socket itself, find that socket. */
static int find_entry(const spawner_t *s, process_t *p)
{
    if (p->is.wire.listen != APL_LISTEN_UNIX)
        return 0;
    p->ready.socket = process_files_socket(&s->rt, p->is.id, p->is.uid);
    p->ready.connect_errno = p->ready.socket < 0 ? errno : 0;
    return p->ready.socket < 0 ? -1 : 0;
}

static void probe(spawner_t *s, process_t *p)
{
    struct pollfd poller = {p->ready.probe, 0, 0};

    if (p->warmup.sent)
        return;
    if (p->ready.probe >= 0 &&
        (s->now - p->ready.probed_at > PROBE_AGE ||
         (poll(&poller, 1, 0) == 1 && (poller.revents & POLLERR))))
        process_end_probe(p); /* too old, or refused */
    if (p->ready.probe >= 0)
        return;
    process_end_probe(p);
    if (find_entry(s, p) != 0)
        return;
    p->ready.probe =
        process_files_connect(&s->rt, p->is.id, &p->is.wire, p->ready.socket);
    p->ready.probed_at = s->now;
}

static void saw(process_t *p, uint32_t queued)
{
    if (queued > 0)
        p->ready.seen = SEEN_QUEUED;
    else if (p->ready.seen == NOT_SEEN)
        p->ready.seen = SEEN_EMPTY;
}

static void on_unix(const sock_diag_socket_t *at, uint32_t queued, void *ctx)
{
    process_t *p = socket_owner_find(ctx, at);

    if (!p || !asks(p))
        return;
    p->ready.listeners += at->listens;
    saw(p, queued);
}

/* Two sockets with the same path are found only if their files are not known,
 * and one of them belongs to another process. Then it is not known in which
 * queue the probe waits. The process counts as ready, and in the worst case a
 * request waits in its queue. Otherwise any process could keep the app from
 * being ready. */
static int is_queued(const process_t *p)
{
    return p->ready.seen == SEEN_QUEUED && p->ready.listeners <= 1;
}

/* A process of another user that has bound the port first would get the app's
 * requests. Root may listen for the app, as container engines do. */
static void on_tcp(const sock_diag_port_t *at, uint32_t queued, void *ctx)
{
    process_t *p = process_of_port(ctx, at->port);

    if (!p || !asks(p))
        return;
    if (at->uid != p->is.uid && at->uid != 0)
        p->ready.seen = SEEN_FOREIGN;
    else if (p->ready.seen != SEEN_FOREIGN)
        saw(p, queued);
    if (!at->is_loopback)
        snprintf(p->ready.beyond, sizeof p->ready.beyond, "%s", at->address);
}

/* An app that binds its socket itself may use another name for it. Then it is
 * enough that the connection was made. */
static int accepts(const process_t *p, int known)
{
    if (p->ready.probe < 0 || !is_connected(p->ready.probe) || is_queued(p) ||
        p->ready.seen == SEEN_FOREIGN)
        return 0;
    if (p->ready.seen != NOT_SEEN)
        return 1;
    return known ? p->is.wire.listen != APL_LISTEN_FD
                 : p->is.says_ready || p->is.wire.listen != APL_LISTEN_FD;
}

static int owes_word(const spawner_t *s, const process_t *p,
                     const app_entry_t *a)
{
    return a && a->notifies && !p->is.says_ready &&
           (p->adopted_at == 0 || s->now - p->adopted_at < SILENCE);
}

/* Has it said what it executes, and thus which protocol that speaks? The report
 * may have come after the loop waited. Until it comes, it is another process
 * that accepts connections at the port or at the path. An adopted or forked
 * process has no pipe. */
static int has_command(spawner_t *s, process_t *p)
{
    start_reports_read(s, p);
    return p->phase == PHASE_BOOTING && (p->start.command || p->reports.fd < 0);
}

static int is_ready(spawner_t *s, process_t *p, int known)
{
    const app_entry_t *a = app_table_find(s->table, p->is.name);

    if (p->warmup.sent)
        return warmup_check(s, p, a);
    if (!accepts(p, known)) {
        wrong_port_look(s, p);
        return 0;
    }
    wrong_port_forget(p);
    if (!has_command(s, p) || owes_word(s, p, a))
        return 0;
    return warmup_check(s, p, a);
}

/* httpd will connect only to the socket that was checked. */
static int is_admitted(const spawner_t *s, process_t *p)
{
    if (p->is.wire.listen == APL_LISTEN_TCP ||
        process_files_admit(&s->rt, p->is.id, p->ready.socket) == 0)
        return 1;
    p->ready.connect_errno = errno;
    process_end_probe(p);
    return 0;
}

const char *ready_missing(const spawner_t *s, const process_t *p,
                          char text[READY_TEXT_MAX])
{
    const app_entry_t *a = app_table_find(s->table, p->is.name);

    if (state_is_template(p))
        snprintf(text, READY_TEXT_MAX, "it did not say READY=1");
    else if (p->ready.connect_errno == ENOTSOCK)
        snprintf(text, READY_TEXT_MAX,
                 "it did not make its own socket at $APPPOOL_SOCKET");
    else if (p->ready.connect_errno != 0 && p->ready.connect_errno != ENOENT)
        snprintf(text, READY_TEXT_MAX,
                 "its socket could not be opened to httpd (%s)",
                 strerror(p->ready.connect_errno));
    else if (p->warmup.not_before != 0)
        warmup_missing(p, a, text);
    else if (wrong_port_is_known(p))
        wrong_port_say(p, "it listens", text, READY_TEXT_MAX);
    else
        snprintf(text, READY_TEXT_MAX, "it did not %s",
                 a && a->notifies && !p->is.says_ready ? "say READY=1"
                                                       : "accept connections");
    return text;
}

/* @return us until the next check. What a check adds to the time of a start is
 * a small part of that time. */
static int64_t pause_of(const spawner_t *s, const process_t *p)
{
    int64_t since = p->warmup.sent ? p->warmup.sent_at : p->is.began;
    int64_t pause = (s->now - since) / POLL_PART;

    return pause < POLL_MIN ? POLL_MIN : pause > POLL_MAX ? POLL_MAX : pause;
}

/* Requests that do not come through httpd pass none of its rules. */
static void warn_of_address(process_t *p)
{
    char text[256];

    if (!*p->ready.beyond)
        return;
    snprintf(
        text, sizeof text,
        "listens on %s (AppListen tcp): other hosts may connect to it, past "
        "Require, TLS and all rules of httpd; have it listen on 127.0.0.1, "
        "which is in $HOST",
        p->ready.beyond);
    if (start_notes_is_new(p->is.name, text))
        app_log(p, LOG_WARN, "%s", text);
}

void ready_check(spawner_t *s)
{
    int unix_probes = 0, tcp_probes = 0, unix_known, tcp_known;
    process_t *p;

    for (p = s->processes; p; p = p->next) {
        if (!asks(p))
            continue;
        p->ready.seen = NOT_SEEN;
        p->ready.listeners = 0;
        probe(s, p);
        if (p->ready.probe >= 0)
            *(p->is.wire.listen == APL_LISTEN_TCP ? &tcp_probes
                                                  : &unix_probes) = 1;
        state_wake(s, s->now + pause_of(s, p));
    }
    unix_known = unix_probes && sock_diag_unix(on_unix, s) == 0;
    tcp_known = tcp_probes && sock_diag_tcp(on_tcp, s) == 0;
    for (p = s->processes; p; p = p->next) {
        if (!asks(p) ||
            !is_ready(s, p,
                      p->is.wire.listen == APL_LISTEN_TCP ? tcp_known
                                                          : unix_known) ||
            !is_admitted(s, p))
            continue;
        warn_of_address(p);
        phase_ready(s, p);
        if (p->phase == PHASE_LIVE)
            process_end_probe(p);
    }
}
