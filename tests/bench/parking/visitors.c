/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file visitors.c
 * @brief visitors PORT TLS_PORT N KINDS: N clients with a long-lived connection
 *        each, in one thread.
 *
 * KINDS is a text that is repeated for the clients: w is a WebSocket, e an event
 * stream; W and E are over TLS. A client whose connection ends connects again a
 * second later. Each line of the input is a command; each has one line of
 * output:
 *
 *     open MS       connect; until all are open, or for MS milliseconds
 *     echo MS       all WebSockets send a frame; until all have an answer
 *     ticked MS     until all event streams have got something
 *     run MS        500 frames a second of WebSockets, one after the other
 *     close         end all connections
 *
 * The output: `open ARE of N, got GOT of ASKED, ended ENDS, away AWAY, refused
 * REFUSED, mean MEAN'. GOT clients of ASKED have got an answer, ENDS connections
 * have ended in this command, AWAY of them with 1001 or the end of the stream.
 * REFUSED got another status. MEAN are open during the command.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define AT_ONCE 128  /* that connect */
#define AGAIN   1000 /* ms */
#define HASTE   10   /* frames of `run' in 20 ms */
#define HEAD    4096

typedef enum { CLOSED, CONNECTS, WAITS, OPEN } state_t;

typedef struct {
    int fd;
    char kind;
    state_t state;
    SSL *ssl;
    long closed_at; /* ms */
    int asked, got;
    size_t n;
    char *head;
} visitor_t;

static visitor_t *all;
static int total, poll;
static long ports[2];
static SSL_CTX *tls;
static int connecting, are_open, ended, away, refused;

static long now(void)
{
    struct timespec at;

    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec * 1000 + at.tv_nsec / 1000000;
}

static int is_tls(const visitor_t *v)
{
    return v->kind == 'W' || v->kind == 'E';
}

static int is_stream(const visitor_t *v)
{
    return v->kind == 'e' || v->kind == 'E';
}

static void leave(visitor_t *v)
{
    if (v->state == CLOSED)
        return;
    if (v->state == OPEN)
        are_open--;
    else
        connecting--;
    SSL_free(v->ssl);
    free(v->head);
    close(v->fd);
    v->ssl = NULL;
    v->head = NULL;
    v->state = CLOSED;
    v->closed_at = now();
}

static void end(visitor_t *v)
{
    ended += v->state == OPEN;
    leave(v);
}

/* ---- bytes ---- */

/* @return as recv(); 0: not now; -1: the end */
static int get(visitor_t *v, char *bytes, int n)
{
    int k = v->ssl ? SSL_read(v->ssl, bytes, n)
                   : (int)recv(v->fd, bytes, (size_t)n, MSG_DONTWAIT);

    if (k > 0)
        return k;
    if (v->ssl)
        return SSL_get_error(v->ssl, k) == SSL_ERROR_WANT_READ ? 0 : -1;
    return k < 0 && errno == EAGAIN ? 0 : -1;
}

static void put(visitor_t *v, const char *bytes, int n)
{
    int k = v->ssl ? SSL_write(v->ssl, bytes, n)
                   : (int)send(v->fd, bytes, (size_t)n, MSG_DONTWAIT);

    if (k != n)
        end(v);
}

static void ask(visitor_t *v)
{
    const char *request =
        is_stream(v) ? "GET /events HTTP/1.1\r\nHost: shop\r\n\r\n"
                     : "GET /echo HTTP/1.1\r\nHost: shop\r\n"
                       "Connection: Upgrade\r\nUpgrade: websocket\r\n"
                       "Sec-WebSocket-Version: 13\r\n"
                       "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n";

    v->state = WAITS;
    v->head = malloc(HEAD);
    v->n = 0;
    put(v, request, (int)strlen(request));
}

static void greet(visitor_t *v)
{
    int error, k;

    if (is_tls(v)) {
        if (!v->ssl) {
            v->ssl = SSL_new(tls);
            SSL_set_fd(v->ssl, v->fd);
        }
        k = SSL_connect(v->ssl);
        error = SSL_get_error(v->ssl, k);
        if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE)
            return;
        if (k != 1) {
            end(v);
            return;
        }
    }
    ask(v);
}

static void read_head(visitor_t *v, const char *bytes, int n)
{
    if (v->n + (size_t)n >= HEAD)
        errx(1, "a long header");
    memcpy(v->head + v->n, bytes, (size_t)n);
    v->n += (size_t)n;
    v->head[v->n] = 0;
    if (!strstr(v->head, "\r\n\r\n"))
        return;
    if (strncmp(v->head + 9, is_stream(v) ? "200" : "101", 3) != 0) {
        refused++;
        end(v);
        return;
    }
    free(v->head);
    v->head = NULL;
    v->state = OPEN;
    connecting--;
    are_open++;
}

static void read_more(visitor_t *v, const char *bytes, int n)
{
    int is_goodbye =
        is_stream(v) ? n >= 5 && !memcmp(bytes + n - 5, "0\r\n\r\n", 5)
                     : n >= 4 && !memcmp(bytes + n - 4, "\x88\x02\x03\xe9", 4);

    v->got = 1;
    if (is_goodbye) {
        away++;
        end(v);
    }
}

static void see(visitor_t *v, uint32_t events)
{
    char bytes[4096];
    int n;

    if (v->state == CONNECTS && (events & (EPOLLOUT | EPOLLIN)))
        greet(v);
    while (v->state == WAITS || v->state == OPEN) {
        n = get(v, bytes, sizeof bytes);
        if (n == 0)
            return;
        if (n < 0)
            end(v);
        else if (v->state == WAITS)
            read_head(v, bytes, n);
        else
            read_more(v, bytes, n);
    }
    if (v->state == CONNECTS && (events & (EPOLLHUP | EPOLLERR)))
        end(v);
}

static void begin(visitor_t *v)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)ports[is_tls(v)]),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLET,
                                .data.ptr = v};

    v->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    if (v->fd < 0)
        err(1, "socket");
    v->state = CONNECTS;
    connecting++;
    if (connect(v->fd, (struct sockaddr *)&address, sizeof address) != 0 &&
        errno != EINPROGRESS)
        end(v);
    else if (epoll_ctl(poll, EPOLL_CTL_ADD, v->fd, &event) != 0)
        err(1, "epoll_ctl");
}

/* ---- commands ---- */

static void connect_more(void)
{
    static int at;
    int i;

    for (i = 0; i < total && connecting < AT_ONCE; i++) {
        at = (at + 1) % total;
        if (all[at].state == CLOSED &&
            (all[at].closed_at == 0 || now() - all[at].closed_at >= AGAIN))
            begin(&all[at]);
    }
}

static void turn(void)
{
    struct epoll_event events[256];
    int i, n = epoll_wait(poll, events, 256, 20);

    for (i = 0; i < n; i++)
        see(events[i].data.ptr, events[i].events);
}

static void forget(void)
{
    int i;

    ended = away = refused = 0;
    for (i = 0; i < total; i++)
        all[i].asked = all[i].got = 0;
}

static void send_frame(visitor_t *v)
{
    static const char frame[] = "\x81\x84\0\0\0\0ping";

    v->asked = 1;
    v->got = 0;
    put(v, frame, sizeof frame - 1);
}

static int count_missing(void)
{
    int i, n = 0;

    for (i = 0; i < total; i++)
        n += all[i].asked && !all[i].got;
    return n;
}

static void send_all(void)
{
    int i;

    for (i = 0; i < total; i++) {
        if (all[i].state != OPEN || is_stream(&all[i]))
            continue;
        send_frame(&all[i]);
        if (i % 64 == 0)
            turn();
    }
}

static void send_some(void)
{
    static int at;
    int i, n;

    for (i = n = 0; i < total && n < HASTE; i++) {
        at = (at + 1) % total;
        if (all[at].state == OPEN && !is_stream(&all[at])) {
            send_frame(&all[at]);
            n++;
        }
    }
}

static void report(long long sum, long long turns)
{
    int i, asked = 0;

    for (i = 0; i < total; i++)
        asked += all[i].asked;
    printf("open %d of %d, got %d of %d, ended %d, away %d, refused %d, "
           "mean %.1f\n",
           are_open, total, asked - count_missing(), asked, ended, away,
           refused, turns ? (double)sum / (double)turns : are_open);
    fflush(stdout);
}

static void wait_for(const char *what, long ms)
{
    long began = now(), last = began, sum = 0, turns = 0;

    while (now() - began < ms) {
        connect_more();
        turn();
        if (now() - last >= 20) { /* by time, whatever comes */
            last = now();
            sum += are_open;
            turns++;
            if (!strcmp(what, "run"))
                send_some();
        }
        if ((!strcmp(what, "open") && are_open == total) ||
            ((!strcmp(what, "echo") || !strcmp(what, "ticked")) &&
             count_missing() == 0))
            break;
    }
    report(sum, turns);
}

static void obey(const char *what, long ms)
{
    int i;

    if (strcmp(what, "ticked") != 0)
        forget();
    if (!strcmp(what, "echo"))
        send_all();
    for (i = 0; i < total; i++)
        if (!strcmp(what, "close"))
            leave(&all[i]);
        else if (!strcmp(what, "ticked") && all[i].state == OPEN)
            all[i].asked = is_stream(&all[i]);
    if (!strcmp(what, "close"))
        report(0, 0);
    else
        wait_for(what, ms);
}

int main(int n, char **args)
{
    char line[128], what[16];
    long ms;
    int i;

    if (n != 5)
        errx(1, "visitors PORT TLS_PORT N KINDS");
    signal(SIGPIPE, SIG_IGN);
    ports[0] = atol(args[1]);
    ports[1] = atol(args[2]);
    total = atoi(args[3]);
    all = calloc((size_t)total, sizeof *all);
    tls = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_mode(tls, SSL_MODE_RELEASE_BUFFERS);
    poll = epoll_create1(0);
    for (i = 0; i < total; i++)
        all[i].kind = args[4][(size_t)i % strlen(args[4])];
    while (fgets(line, sizeof line, stdin)) {
        ms = 0;
        sscanf(line, "%15s %ld", what, &ms);
        obey(what, ms);
    }
}
