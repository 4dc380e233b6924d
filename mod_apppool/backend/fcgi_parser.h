/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file fcgi_parser.h
 * @brief Take apart the records that a FastCGI app sends, in pieces of any
 *        size.
 *
 *     apppool_fcgi_parser_give(&parser, bytes, n);
 *     while ((event = apppool_fcgi_parser_next(&parser)) != APPPOOL_FCGI_MORE)
 *         ...
 *
 * A response is STDOUT, with STDERR between its records, and END_REQUEST as the
 * last record. Anything else is an error: another version, another request, a
 * type that no app sends to a server, STDOUT after its own end. Bytes after
 * END_REQUEST are not read.
 *
 * Trust: the app may send any bytes.
 */
#ifndef MOD_APPPOOL_BACKEND_FCGI_PARSER_H
#define MOD_APPPOOL_BACKEND_FCGI_PARSER_H

#include <stddef.h>
#include <stdint.h>

/** What comes next. */
typedef enum {
    APPPOOL_FCGI_MORE,       /**< nothing in these bytes: give it others */
    APPPOOL_FCGI_STDOUT,     /**< a piece of STDOUT */
    APPPOOL_FCGI_STDOUT_END, /**< the end of STDOUT, once */
    APPPOOL_FCGI_STDERR,     /**< a piece of STDERR */
    APPPOOL_FCGI_END,        /**< END_REQUEST, and its padding; again and again
                                  from now on */
    APPPOOL_FCGI_WRONG, /**< wrong says what; again and again from now on */
} apppool_fcgi_event_t;

/** Zeroed at first. */
typedef struct {
    unsigned request; /**< its id; the caller sets it */
    /* For the caller, to read. */
    const char *piece; /**< of the last event: of what was given */
    size_t piece_size;
    uint32_t app_status;   /**< of END_REQUEST: the exit status of the app */
    unsigned status;       /**< of END_REQUEST: FCGI_REQUEST_COMPLETE ... */
    const char *wrong;     /**< of APPPOOL_FCGI_WRONG; a constant */
    unsigned wrong_number; /**< that the text is about */
    int stdout_ended, ended;
    /* Only the parser uses the rest. */
    const char *at;
    size_t left;               /* bytes at `at` */
    unsigned char head[8];     /* of the record */
    unsigned head_size;        /* so far */
    unsigned content, padding; /* bytes of the record to come */
    unsigned char end[8];      /* the content of END_REQUEST */
} apppool_fcgi_parser_t;

/** The next bytes. All earlier ones must have been used.
 * @param bytes stay where they are until APPPOOL_FCGI_MORE */
void apppool_fcgi_parser_give(apppool_fcgi_parser_t *parser, const char *bytes,
                              size_t n);

apppool_fcgi_event_t apppool_fcgi_parser_next(apppool_fcgi_parser_t *parser);

/** Why has the app refused the request? For status, if that is not
 * FCGI_REQUEST_COMPLETE. */
const char *apppool_fcgi_parser_refusal(const apppool_fcgi_parser_t *parser);

/** Was END_REQUEST the last byte that was given? */
int apppool_fcgi_parser_is_clean(const apppool_fcgi_parser_t *parser);

#endif
