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
        return "something is missing that the application needs to be started";
    case APL_EBACKOFF:
        return "the application could not be started lately";
    case APL_EUNKILLABLE:
        return "too many of the application's processes survive SIGKILL "
               "(AppMaxUnkillable)";
    case APL_EDRAINED:
        return "the application is drained";
    case APL_ELASTING:
        return "too many connections of the application last (AppMaxLasting)";
    case APL_EGONE:
        return "the client left while it waited";
    case APL_ESTOPPING:
        return "the server is being stopped";
    case APL_EFULL:
        return "a table of the pool is full (AppPoolCapacity)";
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
        return "the pool's lock was not to be had in time";
    case APL_EIDLE:
        return "the process is not working on that request";
    default:
        return apr_strerror(rv, buf, size);
    }
}
