/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/thread.h"

#include <errno.h>
#include <signal.h>

int store_thread_start(pthread_t *thread, const char *name,
                       void *(*run)(void *), void *ctx)
{
    sigset_t all, before;
    int error;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(thread, NULL, run, ctx);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error == 0) {
        pthread_setname_np(*thread, name);
        return 0;
    }
    errno = error;
    return -1;
}
