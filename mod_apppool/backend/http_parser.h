/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file http_parser.h
 * @brief Take apart the response that an app sends over HTTP/1, in pieces of
 *        any size.
 *
 *     at = apppool_http_parser_room(&parser, &n);
 *     got = recv(fd, at, n, 0);
 *     apppool_http_parser_fill(&parser, got);        after the end: _end()
 *     while ((event = apppool_http_parser_next(&parser)) != APPPOOL_HTTP_MORE)
 *         ...
 *
 * A response is any number of interim headers (1xx), a header, and a body. The
 * parser decides where the body ends (RFC 9112, section 6.3): there is none
 * after HEAD, 204 and 304; Transfer-Encoding: chunked comes before
 * Content-Length; without both, the body ends with the connection. Anything
 * that two readers could understand in different ways is an error: a field name
 * that is no token, a line without a colon, two lengths that differ, a coding
 * other than chunked, a size of a chunk that is no number.
 *
 * Empty lines before a header are ignored. A line that begins with a space
 * continues the line before it. A line may end without CR, but not between
 * chunks. Extensions of a chunk are ignored, but they have at most 1 KB.
 *
 * Trust: the app may send any bytes.
 */
#ifndef MOD_APPPOOL_BACKEND_HTTP_PARSER_H
#define MOD_APPPOOL_BACKEND_HTTP_PARSER_H

#include <apr_pools.h>
#include <apr_tables.h>

#define APPPOOL_HTTP_TRAILER (8 * 1024) /**< bytes, at most */

/** What comes next. */
typedef enum {
    APPPOOL_HTTP_MORE,    /**< nothing: give it more bytes */
    APPPOOL_HTTP_INTERIM, /**< the header of an interim response */
    APPPOOL_HTTP_HEAD,    /**< the header of the response */
    APPPOOL_HTTP_BODY,    /**< a piece of the body */
    APPPOOL_HTTP_END,     /**< of the response; again and again from now on */
    APPPOOL_HTTP_WRONG    /**< wrong says what; again and again from now on */
} apppool_http_event_t;

typedef enum {
    APPPOOL_HTTP_NO_BODY,
    APPPOOL_HTTP_LENGTH,
    APPPOOL_HTTP_CHUNKED,
    APPPOOL_HTTP_UNTIL_END /**< of the connection */
} apppool_http_framing_t;

/** What stands between the chunks of a body (RFC 9112, section 7.1): the size
 * of each one, and the trailer behind the last one. */
typedef struct {
    apr_off_t left;          /**< bytes of the chunk that have not come */
    int ended;               /**< the trailer has ended */
    char *trailer;           /**< its lines */
    apr_size_t trailer_size; /**< bytes; 0: there is none */
    int state;
    int digits; /* of the size */
    int line;   /* bytes behind it */
    apr_off_t size;
} apppool_http_chunk_t;

typedef struct {
    apr_pool_t *pool; /**< of the request: all that is found lives there */
    int is_head;      /**< the request is HEAD */
    int may_switch;   /**< the request asks for another protocol, so 101 is a
                           header, and the body is that protocol */
    /* For the caller, to read. */
    int minor;                      /**< of the version: HTTP/1.minor */
    int status;                     /**< of the last header */
    const char *status_line;        /**< that number and what follows it */
    apr_table_t *fields;            /**< of the last header */
    apr_table_t *trailers;          /**< NULL: none */
    apppool_http_framing_t framing; /**< of the body */
    apr_off_t left;    /**< Content-Length, until the body comes; -1: none */
    int is_ambiguous;  /**< it has Transfer-Encoding and Content-Length */
    int is_preceded;   /**< an empty line has come before it */
    int heads;         /**< interim ones, too */
    const char *piece; /**< of the last APPPOOL_HTTP_BODY: it stays until */
    apr_size_t size;   /**< apppool_http_parser_room() is called */
    const char *wrong; /**< a sentence for the log */
    /* Only the parser uses the rest. */
    int state;
    char *buffer;
    apr_size_t capacity;
    apr_size_t begin, end; /* what was not used yet */
    apr_size_t floor;      /* behind the header */
    apr_size_t seen;       /* of it, bytes that hold no end of the header */
    apr_size_t header;     /* bytes of all headers so far */
    apppool_http_chunk_t chunk;
} apppool_http_parser_t;

/** @param is_head 1: the request is HEAD */
void apppool_http_parser_begin(apppool_http_parser_t *parser, apr_pool_t *pool,
                               int is_head);

/** Where to put the next bytes. Call it after APPPOOL_HTTP_MORE.
 * @param n at most this many, more than 0 */
char *apppool_http_parser_room(apppool_http_parser_t *parser, apr_size_t *n);

/** The bytes are there. */
void apppool_http_parser_fill(apppool_http_parser_t *parser, apr_size_t n);

apppool_http_event_t apppool_http_parser_next(apppool_http_parser_t *parser);

/** The app has closed the connection, and apppool_http_parser_next() says
 * APPPOOL_HTTP_MORE. @return 1: this is the end of the response; 0: more should
 * have come */
int apppool_http_parser_end(apppool_http_parser_t *parser);

/** Has the response ended, with no byte behind it, and did it say where it
 * ends? A response without a body does not count: the app may still send
 * one. */
int apppool_http_parser_is_clean(const apppool_http_parser_t *parser);

#endif
