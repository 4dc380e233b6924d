/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* URLs that write to the log and to $NOTIFY_SOCKET. */

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sample.h"

/* /print?text=TEXT: a line on standard output, and one on standard error */
int url_print(request_t *r)
{
    const char *text = request_value(r, "text", "");

    printf("%s\n", text);
    fflush(stdout);
    dprintf(2, "%s\n", text);
    respond(r, "");
    return KEEP;
}

/* /lines?n=N&from=FIRST: N lines of 100 bytes, with their numbers */
int url_lines(request_t *r)
{
    size_t i = request_number(r, "from", 0);
    size_t end = i + request_number(r, "n", 0);
    char many[88];

    memset(many, 'x', 87);
    many[87] = 0;
    for (; i < end; i++)
        printf("line %06zu %s\n", i, many);
    fflush(stdout);
    respond(r, "");
    return KEEP;
}

/* What /gush?kind=KIND writes again and again. */
static size_t fill(char *text, size_t size, const char *kind)
{
    size_t n, i;

    n = (size_t)(strcmp(kind, "newlines") == 0 ? sprintf(text, "\n")
                 : strcmp(kind, "words") == 0  ? sprintf(text, "word\n")
                 : strcmp(kind, "lines") == 0  ? sprintf(text, "%099d\n", 0)
                                               : 1); /* bytes: zeros */
    for (i = n; i + n <= size; i += n)
        memcpy(text + i, text, n);
    return i;
}

/* In a process of its own, as long as the app runs. */
int url_gush(request_t *r)
{
    static char text[65536];
    size_t n = fill(text, sizeof text, request_value(r, "kind", ""));
    char pid[16];
    pid_t child = fork();

    while (child == 0)
        if (write(1, text, n) < 0)
            _exit(1);
    snprintf(pid, sizeof pid, "%d", (int)child);
    respond(r, pid);
    return KEEP;
}

/* Says that it is ready, over and over, in a process of its own. */
int url_nag(request_t *r)
{
    char pid[16];
    pid_t child = fork();
    int fd = child == 0 ? notify_connect() : -1;

    while (child == 0)
        if (send(fd, "READY=1", 7, 0) < 0)
            _exit(1);
    snprintf(pid, sizeof pid, "%d", (int)child);
    respond(r, pid);
    return KEEP;
}
