/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/format/error.h"

const char *apl_error_text(apr_status_t rv, char *buf, apr_size_t size)
{
    switch (rv) {
    case APL_EWAIT:
        return "the request waits in the queue";
    case APL_EQUEUEFULL:
        return "too many requests wait already";
    case APL_ETIMEOUT:
        return "no process became free in time";
    case APL_ESTART:
        return "the application could not be started";
    case APL_EREFUSED:
        return "the application cannot be started: something it needs is "
               "missing";
    case APL_EBACKOFF:
        return "the application could not be started a moment ago";
    case APL_EUNKILLABLE:
        return "too many of the application's processes survive SIGKILL "
               "(AppMaxUnkillable)";
    case APL_EDRAINED:
        return "the application is drained";
    case APL_ELONGLIVED:
        return "the application has too many long-lived connections "
               "(AppMaxLongLived)";
    case APL_EGONE:
        return "the client left while its request waited";
    case APL_ESTOPPING:
        return "the server is being stopped";
    case APL_EFULL:
        return "a slot array of the pool is full (AppPoolCapacity)";
    case APL_ECHILDREN:
        return "the pool has no slot for one more child of httpd: restart "
               "httpd";
    case APL_ESTALE:
        return "there is no such process any more";
    case APL_EDAMAGED:
        return "the pool's shared memory is damaged";
    case APL_EFOREIGN:
        return "the shared memory was made by another version";
    case APL_ELOCK:
        return "the lock of the pool could not be taken in time";
    case APL_EIDLE:
        return "the process is not working on that request";
    default:
        return apr_strerror(rv, buf, size);
    }
}
