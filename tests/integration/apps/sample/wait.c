/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* What the app waits for, and what it tells the spawner. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "sample.h"

const char *variable(const char *name)
{
    const char *value = getenv(name);

    return value && *value ? value : NULL;
}

double monotonic(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

void sleep_for(double seconds)
{
    struct timespec left;

    left.tv_sec = (time_t)seconds;
    left.tv_nsec = (long)((seconds - (double)left.tv_sec) * 1e9);
    while (nanosleep(&left, &left) < 0 && errno == EINTR)
        ;
}

void wait_for_file(const char *path)
{
    while (access(path, F_OK) < 0)
        sleep_for(0.005);
}

void hold(const char *key)
{
    const char *directory = getenv("HOLD_DIR");
    char created[512], held[512], go[512];
    FILE *file;

    snprintf(created, sizeof created, "%s/%s.new", directory, key);
    snprintf(held, sizeof held, "%s/%s.held", directory, key);
    snprintf(go, sizeof go, "%s/%s.go", directory, key);
    file = fopen(created, "we");
    if (!file)
        return;
    fprintf(file, "%d", (int)getpid());
    fclose(file);
    rename(created, held);
    wait_for_file(go);
}

int notify_connect(void)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    const char *path = getenv("NOTIFY_SOCKET");
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), error;

    strncpy(to.sun_path, path ? path : "", sizeof to.sun_path - 1);
    if (connect(fd, (struct sockaddr *)&to, sizeof to) == 0)
        return fd;
    error = errno;
    close(fd);
    errno = error;
    return -1;
}

bool notify(const char *message)
{
    int fd = notify_connect(), error;
    ssize_t sent;

    if (fd < 0)
        return false;
    sent = send(fd, message, strlen(message), MSG_NOSIGNAL);
    error = errno;
    close(fd);
    errno = error;
    return sent >= 0;
}

void notify_patiently(const char *message)
{
    while (!notify(message))
        sleep_for(0.01);
}
