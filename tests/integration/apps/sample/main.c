/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The sample app of tests/integration: a small HTTP server that does what the
 * last part of the URL's path says. It is in C because a run of the tests
 * starts it thousands of times.
 *
 *     sample              an app; it serves one request at a time
 *     sample sink FILE    no server: waits in the kernel for the disk of FILE.
 *                         While that does not respond, no signal ends this
 *                         process, and a process that reads its memory waits
 *                         as well.
 *
 * On SIGUSR2 it prints what it is doing. From the environment:
 *
 *     APP_NAME      for /who and the trace
 *     APP_TRACE     file: a line for each request that arrives
 *     APP_THREADS   1: a thread for each connection
 *     APP_BACKLOG   connections that wait to be accepted; 64
 *     BALLAST       MB of memory that it uses from its start on
 *     BOOT_SLEEP    seconds before the first accept
 *     BOOT_IF       file: waits for it before the first accept
 *     BOOT_FAIL_IF  file: exit 1 at the start while it exists
 *     GATE          file: waits for it at the start, and removes it
 *     HOLD_DIR      /hold?key=K: creates K.held, responds when K.go exists
 *     IGNORE_TERM   1: SIGTERM is ignored
 *     LEDGER_DIR    /ID/work?s=SECONDS&n=BYTES: what each process began and
 *                   ended
 *     OPEN_FILES    number of files that it opens, which take time to close at a kill
 *     READS         bytes that it reads at once, at most; 8192
 *     READY_IF      file: READY=1 is sent when it exists
 *     RETIRES       seconds: on SIGUSR1 it sends STOPPING=1, still serves, and
 *                   exits after this time without a request
 *     SINK          file of a disk, for /sink
 *     UP_IF         file: /up responds with 503 until it exists */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sample.h"

static int retirement[2]; /* a pipe, readable when it is time to retire */

/* ---- signals */

static void say_what_it_does(int sign)
{
    const char *words[] = {"it is in /", doing, "\n"};
    size_t i;

    (void)sign;
    for (i = 0; i < 3; i++)
        if (write(2, words[i], strlen(words[i])) < 0)
            return;
}

static void retire(int sign)
{
    int error = errno;

    (void)sign;
    notify_patiently("STOPPING=1");
    if (write(retirement[1], "x", 1) < 0)
        abort();
    errno = error;
}

static void on_signal(int sign, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};

    sigaction(sign, &action, NULL);
}

/* ---- start and end */

/* Tell the spawner from another process when it is ready. */
static void report_when_ready(const char *file)
{
    if (fork() != 0)
        return;
    wait_for_file(file);
    if (!notify("STATUS=warm\nREADY=1\n"))
        printf("nobody hears it: %s\n", strerror(errno));
    exit(0);
}

static void start(void)
{
    const char *value;
    int i;

    process_note_start();
    signal(SIGPIPE, SIG_IGN);
    on_signal(SIGUSR2, say_what_it_does);
    if ((value = variable("GATE")))
        while (unlink(value) < 0)
            sleep_for(0.005);
    if ((value = variable("READY_IF")))
        report_when_ready(value);
    if (variable("IGNORE_TERM"))
        signal(SIGTERM, SIG_IGN);
    if ((value = variable("BOOT_FAIL_IF")) && access(value, F_OK) == 0) {
        puts("this app cannot start");
        exit(1);
    }
    if ((value = variable("LEDGER_DIR")))
        ledger_open(value);
    if ((value = variable("BALLAST")))
        memory_eat((size_t)atoi(value));
    if ((value = variable("OPEN_FILES")))
        for (i = atoi(value); i > 0 && eventfd(0, EFD_CLOEXEC) >= 0;)
            i--;
    if ((value = variable("BOOT_SLEEP")))
        sleep_for(atof(value));
    if ((value = variable("BOOT_IF")))
        wait_for_file(value);
}

/* Return when a client comes. Exit if it has to retire, and none comes within
 * this time. */
static void wait_for_client(int server, const char *retires)
{
    static int idle = -1; /* ms, for ever */
    struct pollfd both[] = {{.fd = server, .events = POLLIN},
                            {.fd = retirement[0], .events = POLLIN}};
    char byte;
    int n;

    for (;;) {
        n = poll(both, 2, idle);
        if (n == 0)
            exit(0);
        if (n > 0 && !both[1].revents)
            return;
        if (n > 0 && read(retirement[0], &byte, 1) == 1)
            idle = (int)(1000 * atof(retires));
    }
}

int main(int argc, char **argv)
{
    const char *retires = variable("RETIRES");
    int server, fd;

    if (argc == 3 && strcmp(argv[1], "sink") == 0)
        return sink(argv[2]);
    start();
    server = listening();
    fcntl(server, F_SETFL, fcntl(server, F_GETFL) & ~O_NONBLOCK);
    if (retires) {
        if (pipe2(retirement, O_CLOEXEC) < 0)
            return 1;
        on_signal(SIGUSR1, retire);
    }
    for (;;) {
        if (retires)
            wait_for_client(server, retires);
        fd = accept4(server, NULL, NULL, SOCK_CLOEXEC);
        if (fd >= 0)
            (variable("APP_THREADS") ? serve_in_thread : serve)(fd);
        else if (errno != ECONNABORTED && errno != EINTR)
            return 1;
    }
}
