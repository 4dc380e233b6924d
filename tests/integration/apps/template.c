/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* A template, written only from doc/template.md, and the app that it forks: a
 * server that prints its identity. Without APPPOOL_FORK it only serves.
 *
 *     template [WAY]    WAY: what it does wrong, as a template
 *
 * Variables: BALLAST, MB that are loaded; LOAD_MS, how long that takes; FOREIGN,
 * the pid that it says with the way "foreign"; LOGGER, a descriptor to which it
 * prints, and which is not replaced in a process. */

#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define ORDER_MAX 4096

enum { LISTENER, OUTPUT, GO, REPORT, PARTS };

extern char **environ;

typedef union {
    char bytes[CMSG_SPACE(PARTS * sizeof(int))];
    struct cmsghdr align;
} control_t;

static const char *way;
static char version[64]; /* of the code, as it was loaded */
static char *mark;       /* APPPOOL_ID=... as /proc/PID/environ has it */
static int forked;

static int is(const char *what)
{
    return strcmp(way, what) == 0;
}

/* A test kills a process here. */
static void stop_at(const char *step)
{
    if (is(step))
        raise(SIGSTOP);
}

/* ---- the app ---- */

static void read_file(const char *name, char *text, size_t size)
{
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    ssize_t n = read(fd, text, size - 1);

    text[n > 0 ? n : 0] = 0;
    text[strcspn(text, "\n")] = 0;
    close(fd);
}

static const char *value(const char *name)
{
    return getenv(name) ? getenv(name) : "";
}

static void load(void)
{
    size_t i, n = (size_t)atoi(value("BALLAST")) << 20;
    char *ballast = malloc(n + 1);

    for (i = 0; ballast && i < n; i += 512)
        ballast[i] = (char)(i >> 9);
    read_file("version", version, sizeof version);
    usleep(1000 * (useconds_t)atoi(value("LOAD_MS")));
    if (strcmp(version, "broken") == 0 && puts("this does not load") > 0)
        exit(1);
}

static void respond(int fd, const char *path)
{
    char body[2048], head[128], seen[64] = "";
    int n, m;

    read_file("/proc/self/environ", seen, sizeof seen);
    n = snprintf(body, sizeof body,
                 "pid=%d\nforked=%d\nsession=%d\nversion=%s\nid=%s\nseen=%s\n"
                 "listen_pid=%s\nlisten_fds=%s\nlisten_fdnames=%s\n"
                 "notify=%s\nfork=%s\npath=%s\n",
                 (int)getpid(), forked, (int)getsid(0), version,
                 value("APPPOOL_ID"), seen, value("LISTEN_PID"),
                 value("LISTEN_FDS"), value("LISTEN_FDNAMES"),
                 value("NOTIFY_SOCKET"), value("APPPOOL_FORK"), path);
    m = snprintf(head, sizeof head,
                 "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
                 "Content-Length: %d\r\nConnection: close\r\n\r\n",
                 n);
    if (write(fd, head, (size_t)m) != m || write(fd, body, (size_t)n) != n)
        return;
}

/* GET /pid?n=N and POST /pid, as harness/threads.py sends them. */
static void respond_pid(int fd, const char *path)
{
    const char *more = strstr(path, "?n=");
    int n = more ? atoi(more + 3) : 0, m;
    char *body = malloc((size_t)n + 512), pid[16];

    if (!body)
        return;
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    m = snprintf(body, 512,
                 "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nX-Pid: "
                 "%s\r\nX-Version: %s\r\nContent-Length: %d\r\n"
                 "Connection: close\r\n\r\n%s",
                 pid, version, (int)strlen(pid) + n, pid);
    memset(body + m, 'x', (size_t)n);
    n = (int)write(fd, body, (size_t)(m + n));
    free(body);
}

/* The rest after the head, which is not used. */
static void read_body(int fd, const char *request, size_t used)
{
    const char *length = strstr(request, "ontent-Length: ");
    const char *body = strstr(request, "\r\n\r\n") + 4;
    long left = (length ? atol(length + 15) : 0) -
                (long)(used - (size_t)(body - request));
    char piece[8192];
    ssize_t n = 1;

    while (left > 0 && n > 0) {
        n = read(fd, piece, sizeof piece);
        left -= n;
    }
}

static void serve_one(int fd)
{
    char request[8192], *path, *end;
    size_t used = 0;
    ssize_t n;

    do {
        n = read(fd, request + used, sizeof request - 1 - used);
        used += n > 0 ? (size_t)n : 0;
        request[used] = 0;
    } while (n > 0 && !strstr(request, "\r\n\r\n"));
    if (n > 0)
        read_body(fd, request, used);
    path = strchr(request, ' ');
    end = path ? strchr(path + 1, ' ') : NULL;
    if (!end)
        return;
    *end = 0;
    if (strncmp(++path, "/say/", 5) == 0)
        dprintf(*value("LOGGER") ? atoi(value("LOGGER")) : 1, "%s\n", path + 5);
    if (strcmp(path, "/stray") == 0 && fork() == 0) {
        setsid();
        close_range(3, 100, 0);
        _exit(pause());
    }
    if (strcmp(path, "/die") == 0)
        raise(SIGKILL);
    if (strncmp(path, "/pid", 4) == 0)
        respond_pid(fd, path);
    else
        respond(fd, path);
    if (strncmp(path, "/exit/", 6) == 0)
        _exit(atoi(path + 6));
}

static void notify(const char *text)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    const char *path = getenv("NOTIFY_SOCKET");
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (path) {
        snprintf(to.sun_path, sizeof to.sun_path, "%s", path);
        sendto(fd, text, strlen(text), 0, (struct sockaddr *)&to, sizeof to);
    }
    close(fd);
}

static _Noreturn void serve(void)
{
    int fd;

    notify("READY=1");
    for (;;) {
        if ((fd = accept(3, NULL, NULL)) >= 0)
            serve_one(fd);
        close(fd);
    }
}

/* ---- the forked process ---- */

static void set_variables(char *text, size_t n)
{
    char pid[16], *at = text;

    text[n] = 0;
    for (; at < text + n; at += strlen(at) + 1)
        putenv(strdup(at));
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    setenv("LISTEN_PID", pid, 1);
    unsetenv("APPPOOL_FORK");
    unsetenv("APPPOOL_PRELOAD");
    unsetenv("APPPOOL_WARM");
    unsetenv("APPPOOL_WARM_HOST");
}

static void write_mark(void)
{
    const char *id = getenv("APPPOOL_ID");

    if (mark && id && strlen(mark) == strlen("APPPOOL_ID=") + strlen(id))
        memcpy(strchr(mark, '=') + 1, id, strlen(id));
}

static void hello(int report, int pid)
{
    char text[80];

    if (is("garbage")) {
        char *much = calloc(1, 60000);

        fcntl(report, F_SETFL, O_NONBLOCK);
        if (write(report, much, 60000) < 0)
            _exit(1);
        return;
    }
    snprintf(text, sizeof text, "%d\n", pid);
    if (write(report, text, strlen(text)) < 0)
        _exit(1);
}

static _Noreturn void be_process(char *order, size_t n, int *fds, int middle)
{
    char go = 0;

    forked = 1;
    signal(SIGTERM, SIG_DFL);
    if (!is("no-setsid"))
        setsid();
    if (dup2(fds[OUTPUT], 1) < 0 || dup2(fds[OUTPUT], 2) < 0 ||
        dup2(fds[LISTENER], 3) < 0)
        _exit(1);
    close(fds[OUTPUT]);
    close(fds[LISTENER]);
    set_variables(order, n);
    stop_at("stop-child");
    while (getppid() == middle)
        usleep(100);
    if (!is("no-mark"))
        write_mark();
    stop_at("stop-hello");
    hello(fds[REPORT], is("init")      ? 1
                       : is("parent")  ? getppid()
                       : is("foreign") ? atoi(value("FOREIGN"))
                                       : getpid());
    close(fds[REPORT]);
    stop_at("stop-go");
    if (read(fds[GO], &go, 1) != 1 || go != 'g')
        _exit(1);
    close(fds[GO]);
    serve();
}

/* ---- the template ---- */

static void obey(char *order, size_t n, int *fds)
{
    pid_t child, own;

    if (is("own-pid")) {
        hello(fds[REPORT], getpid());
        return;
    }
    if (is("silent"))
        return; /* and keeps all four */
    if (is("closes")) {
        close_range(4, 100, 0);
        return;
    }
    if (is("dies"))
        _exit(3);
    stop_at("stop-order");
    child = fork();
    if (child == 0) {
        int middle = getpid();
        if (is("forked-once"))
            be_process(order, n, fds, 0);
        own = fork();
        if (own == 0)
            is("dead") ? _exit(0) : be_process(order, n, fds, middle);
        if (is("dead") && !waitid(P_PID, (id_t)own, NULL, WEXITED | WNOWAIT))
            hello(fds[REPORT], own);
        _exit(0);
    }
    if (!is("forked-once"))
        waitpid(child, NULL, 0);
    if (!is("keeps"))
        close_range(4, 100, 0);
}

static _Noreturn void be_template(void)
{
    char order[ORDER_MAX + 1];
    control_t control;
    struct iovec piece = {order, ORDER_MAX};
    int fds[PARTS];
    ssize_t n;

    for (;;) {
        struct msghdr message = {.msg_iov = &piece,
                                 .msg_iovlen = 1,
                                 .msg_control = control.bytes,
                                 .msg_controllen = sizeof control.bytes};
        struct cmsghdr *c;

        n = recvmsg(3, &message, 0);
        if (n < 0 && errno == EINTR)
            continue;
        while (n <= 0 && (is("stays") || is("ignores-term")))
            pause();
        if (n <= 0)
            _exit(0);
        c = CMSG_FIRSTHDR(&message);
        if (!c || c->cmsg_type != SCM_RIGHTS ||
            c->cmsg_len != CMSG_LEN(sizeof fds))
            continue;
        memcpy(fds, CMSG_DATA(c), sizeof fds);
        obey(order, (size_t)n, fds);
    }
}

/* Descriptors may not get back to the spawner. */
static void send_back(void)
{
    control_t control;
    char byte = 'x';
    struct iovec piece = {&byte, 1};
    struct msghdr message = {.msg_iov = &piece,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = CMSG_SPACE(sizeof(int))};
    struct cmsghdr *c = CMSG_FIRSTHDR(&message);
    int fd = 1;

    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(c), &fd, sizeof fd);
    printf("sent back: %s\n",
           sendmsg(3, &message, MSG_NOSIGNAL) < 0 ? strerror(errno) : "taken");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    const char *version_of_protocol = getenv("APPPOOL_FORK");
    char **e;

    way = argc > 1 ? argv[1] : "";
    for (e = environ; *e; e++)
        mark = strncmp(*e, "APPPOOL_ID=", 11) == 0 ? *e : mark;
    load();
    if (!version_of_protocol)
        serve();
    if (strcmp(version_of_protocol, "1") != 0 || is("refuses"))
        return puts("cannot be forked") > 0 ? 69 : 1;
    if (is("broken"))
        return 1;
    if (is("never-ready"))
        pause();
    signal(SIGTERM, is("ignores-term") ? SIG_IGN : SIG_DFL);
    if (is("subreaper"))
        prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (is("sends-back"))
        send_back();
    notify("READY=1");
    while (is("deaf"))
        pause();
    if (is("ready-then-dies")) /* the order says that it is known to be ready */
        return recv(3, NULL, 0, MSG_PEEK) < 0 ? 5 : 4;
    be_template();
}
