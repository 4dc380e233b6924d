/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file fcgi_format.h
 * @brief The numbers of FastCGI 1.0, as far as a web server needs them.
 *
 * Both sides send sequences of records. A record has a header of eight bytes,
 * up to 65535 bytes of content, and up to 255 bytes of padding:
 *
 *     version, type, request id (2), length of the content (2), of the padding,
 *     0
 *
 * Numbers of several bytes begin with the highest. A stream (PARAMS, STDIN,
 * STDOUT, STDERR) ends with an empty record.
 */
#ifndef MOD_APPPOOL_BACKEND_FCGI_FORMAT_H
#define MOD_APPPOOL_BACKEND_FCGI_FORMAT_H

#define FCGI_VERSION   1
#define FCGI_HEADER    8     /**< bytes of a header */
#define FCGI_MOST      65535 /**< bytes of content */

/* Ids of requests. A connection carries one at a time. */
#define FCGI_ID        1                        /**< of its first one */
#define FCGI_ID_NEXT   2                        /**< of others, at least */
#define FCGI_IDS       (0x10000 - FCGI_ID_NEXT) /**< so many may follow */

#define FCGI_KEEP_CONN 1 /**< a flag: the app does not close the connection */

/** Types of records. */
enum {
    FCGI_BEGIN_REQUEST = 1,
    FCGI_END_REQUEST = 3,
    FCGI_PARAMS = 4,
    FCGI_STDIN = 5,
    FCGI_STDOUT = 6,
    FCGI_STDERR = 7,
};

#define FCGI_RESPONDER 1 /**< the role of the app */

/** What the app says at the end of a request: has it served the request? */
enum {
    FCGI_REQUEST_COMPLETE = 0,
    FCGI_CANT_MPX_CONN = 1,
    FCGI_OVERLOADED = 2,
    FCGI_UNKNOWN_ROLE = 3,
};

#endif
