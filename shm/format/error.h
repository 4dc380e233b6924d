/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file error.h
 * @brief The pool's own apr_status_t codes.
 */
#ifndef APPPOOL_SHM_FORMAT_ERROR_H
#define APPPOOL_SHM_FORMAT_ERROR_H

#include <apr_errno.h>

enum {
    /** The request waits in its group's queue: apl_checkout_wait(). */
    APL_EWAIT = APR_OS_START_USERERR + 7100,
    /** AppMaxQueue requests wait already. */
    APL_EQUEUEFULL,
    /** The deadline passed while waiting. */
    APL_ETIMEOUT,
    /** The app did not start while the request waited for it. */
    APL_ESTART,
    /** The app did not start lately and has to wait before the next try. */
    APL_EBACKOFF,
    /** Too many of the app's processes survive SIGKILL (AppMaxUnkillable). */
    APL_EUNKILLABLE,
    /** The app is drained, and gets no requests (apppoolctl drain). */
    APL_EDRAINED,
    /** The app has AppMaxLongLived long-lived connections already. */
    APL_ELONGLIVED,
    /** The client left while its request waited. */
    APL_EGONE,
    /** This httpd child is being stopped. */
    APL_ESTOPPING,
    /** A slot array of the segment is full. */
    APL_EFULL,
    /** The slot array of httpd's children is full. */
    APL_ECHILDREN,
    /** The record does not exist any more. */
    APL_ESTALE,
    /** The segment contains what cannot be true. */
    APL_EDAMAGED,
    /** The segment has another layout, size or version. */
    APL_EFOREIGN,
    /** The lock could not be taken in time. */
    APL_ELOCK,
    /** The process does not work on that request, or on any. */
    APL_EIDLE,
    /** As APL_ESTART, but the app's command was not run: something is missing.
     */
    APL_EREFUSED
};

/** The code's sentence, or APR's for a code of APR's. @return static text */
const char *apl_error_text(apr_status_t rv, char *buf, apr_size_t size);

#endif
