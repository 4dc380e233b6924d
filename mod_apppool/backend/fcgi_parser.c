/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/backend/fcgi_parser.h"

#include <string.h>

#include "mod_apppool/backend/fcgi_format.h"

void apppool_fcgi_parser_give(apppool_fcgi_parser_t *parser, const char *bytes,
                              size_t n)
{
    parser->at = bytes;
    parser->left = n;
}

static apppool_fcgi_event_t wrong(apppool_fcgi_parser_t *parser,
                                  const char *what, unsigned number)
{
    parser->wrong = what;
    parser->wrong_number = number;
    return APPPOOL_FCGI_WRONG;
}

/* @return bytes that were taken, at most `most` */
static size_t take(apppool_fcgi_parser_t *parser, size_t most)
{
    size_t n = parser->left < most ? parser->left : most;

    parser->at += n;
    parser->left -= n;
    return n;
}

/* ---- the header */

static int is_stream(unsigned type)
{
    return type == FCGI_STDOUT || type == FCGI_STDERR;
}

/* It is complete. @return APPPOOL_FCGI_MORE: it is good */
static apppool_fcgi_event_t check_header(apppool_fcgi_parser_t *parser)
{
    const unsigned char *head = parser->head;
    unsigned type = head[1], id = (unsigned)head[2] << 8 | head[3];

    parser->content = (unsigned)head[4] << 8 | head[5];
    parser->padding = head[6];
    if (head[0] != FCGI_VERSION)
        return wrong(parser, "a record of version", head[0]);
    if (id != parser->request)
        return wrong(parser, "a record for request", id);
    if (!is_stream(type) && type != FCGI_END_REQUEST)
        return wrong(parser, "a record of type", type);
    if (type == FCGI_STDOUT && parser->stdout_ended)
        return wrong(parser, "output after the end of the output; bytes:",
                     parser->content);
    if (type == FCGI_END_REQUEST && parser->content != sizeof parser->end)
        return wrong(parser,
                     "an END_REQUEST of another length:", parser->content);
    return APPPOOL_FCGI_MORE;
}

/* @return APPPOOL_FCGI_MORE: there is no header yet, or a good one */
static apppool_fcgi_event_t read_header(apppool_fcgi_parser_t *parser)
{
    const char *from = parser->at;
    size_t n = take(parser, FCGI_HEADER - parser->head_size);

    memcpy(parser->head + parser->head_size, from, n);
    parser->head_size += (unsigned)n;
    if (parser->head_size < FCGI_HEADER)
        return APPPOOL_FCGI_MORE;
    return check_header(parser);
}

/* ---- what follows it */

/* The last record is complete. */
static apppool_fcgi_event_t read_end(apppool_fcgi_parser_t *parser)
{
    const unsigned char *end = parser->end;

    parser->app_status = (uint32_t)end[0] << 24 | (uint32_t)end[1] << 16 |
                         (uint32_t)end[2] << 8 | end[3];
    parser->status = end[4];
    parser->ended = 1;
    return APPPOOL_FCGI_END;
}

/* The record is complete. */
static apppool_fcgi_event_t end_record(apppool_fcgi_parser_t *parser)
{
    const unsigned char *head = parser->head;
    int is_empty = head[4] == 0 && head[5] == 0;

    parser->head_size = 0;
    if (head[1] == FCGI_END_REQUEST)
        return read_end(parser);
    if (head[1] == FCGI_STDOUT && is_empty) {
        parser->stdout_ended = 1;
        return APPPOOL_FCGI_STDOUT_END;
    }
    return APPPOOL_FCGI_MORE;
}

/* @return APPPOOL_FCGI_MORE: it is nothing for the caller */
static apppool_fcgi_event_t read_content(apppool_fcgi_parser_t *parser)
{
    const char *from = parser->at;
    size_t n = take(parser, parser->content);

    if (parser->head[1] == FCGI_END_REQUEST)
        memcpy(parser->end + sizeof parser->end - parser->content, from, n);
    parser->content -= (unsigned)n;
    if (!is_stream(parser->head[1]))
        return APPPOOL_FCGI_MORE;
    parser->piece = from;
    parser->piece_size = n;
    return parser->head[1] == FCGI_STDOUT ? APPPOOL_FCGI_STDOUT
                                          : APPPOOL_FCGI_STDERR;
}

apppool_fcgi_event_t apppool_fcgi_parser_next(apppool_fcgi_parser_t *parser)
{
    apppool_fcgi_event_t event = APPPOOL_FCGI_MORE;

    if (parser->wrong)
        return APPPOOL_FCGI_WRONG;
    if (parser->ended)
        return APPPOOL_FCGI_END;
    while (event == APPPOOL_FCGI_MORE && parser->left > 0) {
        if (parser->head_size < FCGI_HEADER)
            event = read_header(parser);
        else if (parser->content > 0)
            event = read_content(parser);
        else
            parser->padding -= (unsigned)take(parser, parser->padding);
        if (event == APPPOOL_FCGI_MORE && parser->head_size == FCGI_HEADER &&
            parser->content == 0 && parser->padding == 0)
            event = end_record(parser);
    }
    return event;
}

const char *apppool_fcgi_parser_refusal(const apppool_fcgi_parser_t *parser)
{
    switch (parser->status) {
    case FCGI_OVERLOADED:
        return "it is overloaded";
    case FCGI_CANT_MPX_CONN:
        return "it takes one request at a time";
    case FCGI_UNKNOWN_ROLE:
        return "it is not a responder";
    default:
        return "the reason is unknown";
    }
}

int apppool_fcgi_parser_is_clean(const apppool_fcgi_parser_t *parser)
{
    return parser->ended && parser->left == 0;
}
