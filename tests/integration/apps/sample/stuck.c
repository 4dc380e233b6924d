/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* URLs that never respond, each for another reason. */

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sample.h"

#define PAGE 4096

int url_loop(request_t *r)
{
    volatile int forever = 1;

    (void)r;
    if (nice(19) < 0) /* other tests need the processor */
        return CLOSE;
    while (forever)
        ;
    return CLOSE;
}

/* Asleep in a system call. As /deaf, before it has read the body. */
int url_nap(request_t *r)
{
    (void)r;
    sleep_for(600);
    return CLOSE;
}

/* Stopped, until another process continues it. */
int url_stop(request_t *r)
{
    (void)r;
    raise(SIGSTOP);
    return KEEP;
}

/* Waits for a lock that it holds itself. */
int url_lock(request_t *r)
{
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

    (void)r;
    pthread_mutex_lock(&lock);
    pthread_mutex_lock(&lock);
    return CLOSE;
}

/* Waits for a writer that does not write. */
int url_read(request_t *r)
{
    int ends[2];
    char byte;

    (void)r;
    if (pipe(ends) < 0 || read(ends[0], &byte, 1) < 0)
        return CLOSE;
    return KEEP;
}

/* A page of the file is written during mmap(2), which replaces it, while the
 * lock of this process's memory is held. */
int sink(const char *path)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    char *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (page == MAP_FAILED)
        return 1;
    *page = 1;
    mmap(page, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    return 0;
}

/* Waits for a disk that does not respond. */
int url_sink(request_t *r)
{
    (void)r;
    sink(variable("SINK"));
    return KEEP;
}

/* A process that it has started waits for the disk. */
int url_sinking(request_t *r)
{
    char text[16];
    pid_t pid = fork();

    if (pid == 0)
        _exit(sink(variable("SINK")));
    snprintf(text, sizeof text, "%d", (int)pid);
    respond(r, text);
    return KEEP;
}

/* An event stream without events. */
int url_stream(request_t *r)
{
    fputs("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n", r->out);
    fflush(r->out);
    return url_nap(r);
}

static void *be_idle(void *none)
{
    sleep_for(600);
    return none;
}

/* 20 threads that sleep, and one that works. */
int url_threads(request_t *r)
{
    pthread_t thread;
    int i;

    for (i = 0; i < 20; i++)
        pthread_create(&thread, NULL, be_idle, NULL);
    return url_loop(r);
}

/* Leaves the connection to a process that stays. httpd closes its end. */
int url_fork(request_t *r)
{
    if (fork() == 0) {
        sleep_for(600);
        _exit(0);
    }
    respond_with(r, 200, "Connection: close\r\n", "forked");
    return KEEP;
}

/* The work is done in a process that it has started. */
int url_worker(request_t *r)
{
    if (fork() == 0)
        _exit(url_loop(r));
    wait(NULL);
    return CLOSE;
}
