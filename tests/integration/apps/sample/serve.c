/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The URLs, and a connection with requests for them. */

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sample.h"

#define BUFFER 8192

static const struct {
    const char *name;
    url_t *run;
    bool reads_body; /* the URL does, or nothing does */
} urls[] = {
    {"big", url_big, false},
    {"cached", url_cached, false},
    {"child", url_child, false},
    {"chunked", url_chunked, false},
    {"close", url_close, false},
    {"count", url_count, false},
    {"crash", url_crash, false},
    {"daemon", url_daemon, false},
    {"deaf", url_nap, true},
    {"early", url_early, true},
    {"eat", url_eat, false},
    {"echo", url_echo, false},
    {"exit", url_exit, false},
    {"fickle", url_fickle, false},
    {"flood", url_flood, false},
    {"fork", url_fork, false},
    {"garbage", url_garbage, false},
    {"gorge", url_gorge, false},
    {"gush", url_gush, false},
    {"half", url_half, false},
    {"head", url_head, false},
    {"hold", url_hold, false},
    {"lines", url_lines, false},
    {"lock", url_lock, false},
    {"loop", url_loop, false},
    {"nag", url_nag, false},
    {"nap", url_nap, false},
    {"nothing", url_nothing, false},
    {"parts", url_parts, false},
    {"pid", url_pid, false},
    {"print", url_print, false},
    {"process", url_process, false},
    {"read", url_read, false},
    {"redirect", url_redirect, false},
    {"sendfile", url_sendfile, false},
    {"share", url_share, false},
    {"sink", url_sink, false},
    {"sinking", url_sinking, false},
    {"sleep", url_sleep, false},
    {"status", url_status, false},
    {"stop", url_stop, false},
    {"stopping", url_stopping, false},
    {"stream", url_stream, false},
    {"sum", url_sum, true},
    {"surplus", url_surplus, false},
    {"threads", url_threads, false},
    {"up", url_up, false},
    {"work", url_work, false},
    {"worker", url_worker, false},
    {"", url_who, false}, /* and all others */
};

int served;
const char *volatile doing = "nothing";

static void trace(const request_t *r)
{
    const char *path = variable("APP_TRACE"), *name = getenv("APP_NAME");
    int fd =
        path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;

    if (fd < 0)
        return;
    dprintf(fd, "%s %d %s %s\n", name, (int)getpid(), r->method, r->target);
    close(fd);
}

/* @return false if the connection is over */
static bool serve_one(request_t *r)
{
    size_t i = 0;
    int what;

    if (!request_read(r))
        return false;
    while (*urls[i].name && strcmp(urls[i].name, r->name) != 0)
        i++;
    if (!urls[i].reads_body && !request_read_body(r))
        return false;
    __atomic_add_fetch(&served, 1, __ATOMIC_RELAXED);
    trace(r);
    doing = urls[i].name;
    what = urls[i].run(r);
    doing = "nothing";
    return fflush(r->out) == 0 && !ferror(r->out) && what == KEEP &&
           strcasecmp(request_header(r, "Connection"), "close") != 0;
}

static ssize_t read_connection(void *fd, char *to, size_t size)
{
    return read(*(int *)fd, to, size);
}

void serve(int fd)
{
    const char *reads = variable("READS");
    size_t most = reads ? (size_t)atoi(reads) : BUFFER;
    char in_buffer[BUFFER], out_buffer[BUFFER];
    /* The other one closes the descriptor. */
    FILE *in =
        fopencookie(&fd, "r", (cookie_io_functions_t){.read = read_connection});
    FILE *out = fdopen(fd, "w");
    bool more = true;
    int on = 1;

    /* With what Nagle's algorithm holds back, a connection that is closed before
     * all is read loses the end of its response. A Unix socket has no such
     * option. */
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setvbuf(in, in_buffer, _IOFBF, most < BUFFER ? most : BUFFER);
    setvbuf(out, out_buffer, _IOFBF, BUFFER);
    while (more) {
        request_t r = {.fd = fd, .in = in, .out = out};

        more = serve_one(&r);
        request_clear(&r);
    }
    fclose(in);
    fclose(out);
}

static void *serve_thread(void *fd)
{
    serve((int)(intptr_t)fd);
    return NULL;
}

void serve_in_thread(int fd)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, serve_thread, (void *)(intptr_t)fd) != 0)
        abort();
    pthread_detach(thread);
}
