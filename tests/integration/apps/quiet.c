/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* For harness/crowd.py, which compiles it: the smallest processes there are.
 *
 *     quiet        an app: it accepts connections on descriptor 3
 *     quiet left   one that leaves a process of its session behind
 *     quiet N      N strangers that sleep, until standard input is closed */

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

static void serve(void)
{
    for (;;)
        close(accept(3, NULL, NULL));
}

/* In a group of its own: a signal to the leader's does not reach it. */
static void leave(void)
{
    if (fork() != 0)
        return;
    setpgid(0, 0);
    close(3);
    for (;;)
        pause();
}

/* They end with their parent, however that ends. */
static int crowd(int n)
{
    char byte = 0;
    int i;

    for (i = 0; i < n; i++)
        switch (fork()) {
        case -1:
            return 1;
        case 0:
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            for (;;)
                pause();
        }
    return write(1, "r", 1) != 1 || read(0, &byte, 1) != 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "left") != 0)
        return crowd(atoi(argv[1]));
    if (argc > 1)
        leave();
    serve();
}
