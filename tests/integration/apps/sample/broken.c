/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* URLs whose responses end early, or are none, and whose connections or
 * processes end. */

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "sample.h"

/* No length: the end of the connection is the end of the body. */
int url_close(request_t *r)
{
    fputs("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nto the end", r->out);
    return CLOSE;
}

/* Closes the connection without a response, and lives. */
int url_nothing(request_t *r)
{
    (void)r;
    return CLOSE;
}

int url_garbage(request_t *r)
{
    static const char garbage[] = "\0\1\2 this is not HTTP\r\n\r\n";

    fwrite(garbage, 1, sizeof garbage - 1, r->out);
    return CLOSE;
}

/* Closes the connection within the header. */
int url_head(request_t *r)
{
    fputs("HTTP/1.1 200 OK\r\nX-Half: ", r->out);
    return CLOSE;
}

static void put_many(FILE *to, char c, int n)
{
    while (n-- > 0)
        putc(c, to);
}

/* /early?how=HOW: responds without reading the body, and closes the
 * connection; length, close; large (3 MB, and then it closes); half (of a
 * response), dead */
int url_early(request_t *r)
{
    const char *how = request_value(r, "how", "");
    bool is_large = strcmp(how, "large") == 0;

    if (strcmp(how, "dead") == 0)
        raise(SIGKILL);
    fprintf(r->out, "HTTP/1.1 413 Too Much\r\n%s\r\n",
            is_large || strcmp(how, "close") == 0
                ? ""
                : "Content-Length: 10000\r\n");
    put_many(r->out, 'n',
             is_large                   ? 3000000
             : strcmp(how, "half") == 0 ? 5000
                                        : 10000);
    return CLOSE;
}

/* Sends more than it announced. The surplus looks like another response. */
int url_surplus(request_t *r)
{
    fputs("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
          "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison",
          r->out);
    return KEEP;
}

/* Closes its connection when another request comes, without reading it. */
int url_fickle(request_t *r)
{
    struct pollfd next = {.fd = r->fd, .events = POLLIN};

    respond(r, "");
    poll(&next, 1, -1);
    return CLOSE;
}

int url_crash(request_t *r)
{
    (void)r;
    raise(SIGKILL);
    return CLOSE;
}

/* Dies when the client has half of the response. */
int url_half(request_t *r)
{
    fputs("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", r->out);
    put_many(r->out, 'x', 50000);
    fflush(r->out);
    raise(SIGKILL);
    return CLOSE;
}

/* Responds, then exits in order. */
int url_exit(request_t *r)
{
    respond_pid(r);
    _exit(0);
}

/* Says that it will take no other request. Then it responds and exits. */
int url_stopping(request_t *r)
{
    notify_patiently("STOPPING=1");
    respond_pid(r);
    _exit(0);
}
