/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/start/start.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "spawner/process/guarded_socket.h"
#include "spawner/process/process.h"

void start_parts_close(start_parts_t *x)
{
    int *fds = (int *)x;
    size_t i;

    for (i = 0; i < sizeof *x / sizeof *fds; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    memset(x, -1, sizeof *x);
}

void start_parts_drop(process_t *p)
{
    loop_drop(&p->reports);
    loop_drop(&p->fifo);
    guarded_socket_drop(&p->notify);
    process_end_forking(p);
}

static int choose_port(spawner_t *s, process_t *p)
{
    int i, port = -1;

    for (i = 0; i < 100; i++) {
        port = process_files_port();
        if (port < 0 || !process_of_port(s, (uint32_t)port))
            break;
    }
    if (port > 0)
        process_has_port(s, p, (uint32_t)port);
    return port > 0 ? 0 : -1;
}

/* The spawner never reads from its end. So a template that sends something gets
 * EPIPE, and no descriptor gets into the spawner in this way. */
static int make_order_socket(process_t *p, start_parts_t *x)
{
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return -1;
    p->template.orders = ends[0];
    x->listener = ends[1];
    return shutdown(ends[0], SHUT_RD);
}

const char *start_parts_make(spawner_t *s, process_t *p, start_parts_t *x,
                             loop_ready_t *on_report)
{
    process_files_path_t path;
    int fd;

    memset(x, -1, sizeof *x);
    if (state_is_template(p)) {
        if (make_order_socket(p, x) != 0)
            return "the socket of its orders";
    }
    else if (p->is.wire.listen == APL_LISTEN_FD &&
             (x->listener = process_files_listen(&s->rt, p->is.id)) < 0)
        return "its listening socket";
    if (p->is.wire.listen == APL_LISTEN_TCP && choose_port(s, p) != 0)
        return "a port to listen on";
    fd = process_files_output(&s->rt, p->is.id);
    if (fd < 0 || loop_add(&p->fifo, fd, EPOLLIN, start_reports_output, p) != 0)
        return "the FIFO of its output";
    process_files_path(&s->rt, CONTRACT_OUTPUT, p->is.id, path);
    x->output = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (x->output < 0)
        return "the FIFO of its output";
    fd = process_files_notify(&s->rt, p->is.id);
    if (fd < 0 || loop_add(&p->notify, fd, EPOLLIN, sd_notify_read, p) != 0)
        return "its notify socket";
    if (pipe2(x->go, O_CLOEXEC) != 0 ||
        pipe2(x->report, O_CLOEXEC | O_NONBLOCK) != 0)
        return "a pipe";
    if (loop_add(&p->reports, x->report[0], EPOLLIN, on_report, p) != 0)
        return "a pipe";
    x->report[0] = -1;
    return NULL;
}
