/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/backend/http_parser.h"

#include <apr_lib.h>
#include <apr_strings.h>
#include <string.h>
#include <strings.h>

#include "mod_apppool/backend/header_size.h"
#include "mod_apppool/backend/http_fields.h"

#define BUFFER     (32 * 1024) /* bytes that are read at once */
#define ROOM       (16 * 1024) /* the same, at least, within a body */
#define FIRST_LINE 12          /* bytes of "HTTP/1.1 200" */
#define CODE       3           /* digits of a status */

/* What the next byte belongs to. */
enum { HEADER, BODY, ENDED, WRONG };

void apppool_http_parser_begin(apppool_http_parser_t *parser, apr_pool_t *pool,
                               int is_head)
{
    memset(parser, 0, sizeof *parser);
    parser->pool = pool;
    parser->is_head = is_head;
    parser->status_line = "";
}

static apppool_http_event_t fail(apppool_http_parser_t *parser, const char *why)
{
    parser->wrong = why;
    parser->state = WRONG;
    return APPPOOL_HTTP_WRONG;
}

/* ---- the buffer ---- */

/* A header stays where it is, because its fields point there. So the buffer is
 * replaced by a new one when it is full. Of a header, the part that has come
 * moves into it. */
char *apppool_http_parser_room(apppool_http_parser_t *parser, apr_size_t *n)
{
    int in_header = parser->state == HEADER;
    apr_size_t held = in_header ? parser->end - parser->begin : 0;
    apr_size_t left = parser->capacity - parser->end;
    char *buffer;

    if (left == 0 || (!in_header && left < ROOM)) {
        parser->capacity = held + BUFFER;
        buffer = apr_palloc(parser->pool, parser->capacity);
        if (held > 0)
            memcpy(buffer, parser->buffer + parser->begin, held);
        parser->buffer = buffer;
        parser->begin = parser->floor = 0;
        parser->end = held;
        left = BUFFER;
    }
    *n = left;
    return parser->buffer + parser->end;
}

void apppool_http_parser_fill(apppool_http_parser_t *parser, apr_size_t n)
{
    parser->end += n;
}

/* The bytes of a body were used: the next ones take their place. */
static apppool_http_event_t want_more(apppool_http_parser_t *parser)
{
    if (parser->state != HEADER)
        parser->begin = parser->end = parser->floor;
    return APPPOOL_HTTP_MORE;
}

/* ---- the header ---- */

/* Find the empty line that ends the header. @return its end; NULL: it has not
 * come */
static char *find_end(apppool_http_parser_t *parser)
{
    char *begin = parser->buffer + parser->begin;
    char *end = parser->buffer + parser->end;
    char *at = begin + parser->seen, *lf;

    while ((lf = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        at = lf + 1;
        if (lf > begin &&
            (lf[-1] == '\n' ||
             (lf[-1] == '\r' && lf > begin + 1 && lf[-2] == '\n')))
            return at;
    }
    parser->seen = (apr_size_t)(end - begin);
    return NULL;
}

/* Nobody knows whether an empty line belongs to this response. @return 0: what
 * has come may still be one */
static int skip_empty_lines(apppool_http_parser_t *parser)
{
    const char *at = parser->buffer + parser->begin;
    const char *end = parser->buffer + parser->end;

    while (at < end &&
           (*at == '\n' || (at + 1 < end && !memcmp(at, "\r\n", 2)))) {
        at += *at == '\n' ? 1 : 2;
        parser->is_preceded = 1;
    }
    parser->header += (apr_size_t)(at - (parser->buffer + parser->begin));
    parser->begin = (apr_size_t)(at - parser->buffer);
    return at < end && (*at != '\r' || at + 1 < end);
}

/* "HTTP/1.1 200 OK", "HTTP/1.1 200" */
static int is_status_line(const char *line)
{
    const char *code = line + FIRST_LINE - CODE;

    return !strncmp(line, "HTTP/1.", 7) && apr_isdigit(line[7]) &&
           line[8] == ' ' && *code >= '1' && *code <= '9' &&
           apr_isdigit(code[1]) && apr_isdigit(code[2]) &&
           (code[CODE] == ' ' || code[CODE] == 0);
}

static const char *read_status(apppool_http_parser_t *parser, char *line,
                               char *lf)
{
    char *end = lf > line && lf[-1] == '\r' ? lf - 1 : lf;

    *end = 0;
    if (strlen(line) != (size_t)(end - line) || strchr(line, '\r') ||
        end - line < FIRST_LINE || !is_status_line(line))
        return "the response does not begin with a status line";
    parser->minor = line[7] - '0';
    parser->status_line = line + FIRST_LINE - CODE;
    parser->status = (int)apr_strtoi64(parser->status_line, NULL, 10);
    /* Each status line has a text, which may be empty. */
    if (parser->status_line[CODE] == 0)
        parser->status_line =
            apr_pstrcat(parser->pool, parser->status_line, " ", NULL);
    return NULL;
}

/* Where does the body end? */
static const char *find_framing(apppool_http_parser_t *parser)
{
    const char *coding =
        apr_table_getm(parser->pool, parser->fields, "Transfer-Encoding");
    const char *wrong =
        apppool_http_fields_length(parser->fields, &parser->left);

    parser->is_ambiguous = coding && parser->left >= 0;
    parser->framing = APPPOOL_HTTP_NO_BODY;
    if (parser->is_head || parser->status < 200 || parser->status == 204 ||
        parser->status == 304)
        return wrong;
    if (coding) {
        parser->framing = APPPOOL_HTTP_CHUNKED;
        return strcasecmp(coding, "chunked")
                   ? "Transfer-Encoding is not `chunked'"
                   : NULL;
    }
    parser->framing =
        parser->left >= 0 ? APPPOOL_HTTP_LENGTH : APPPOOL_HTTP_UNTIL_END;
    return wrong;
}

/* @param end behind the empty line */
static const char *read_header(apppool_http_parser_t *parser, char *end)
{
    char *line = parser->buffer + parser->begin;
    char *lf = memchr(line, '\n', (size_t)(end - line));
    const char *wrong = read_status(parser, line, lf);

    if (wrong)
        return wrong;
    parser->fields = apr_table_make(parser->pool, 20);
    end -= end[-2] == '\r' ? 2 : 1;
    wrong = apppool_http_fields_read(lf + 1, end, parser->fields);
    return wrong ? wrong : find_framing(parser);
}

/* @param end behind the header; NULL: it has not come */
static const char *why_too_long(apppool_http_parser_t *parser, const char *end)
{
    const char *begin = parser->buffer + parser->begin;
    apppool_header_size_t size = {0};

    if (!end)
        end = parser->buffer + parser->end;
    apppool_header_size_add(&size, begin, (apr_size_t)(end - begin));
    return apppool_header_size_wrong(&size, parser->pool);
}

static apppool_http_event_t take_header(apppool_http_parser_t *parser)
{
    char *end = NULL;
    const char *wrong;

    if (parser->seen > 0 || skip_empty_lines(parser))
        end = find_end(parser);
    parser->header +=
        end ? (apr_size_t)(end - (parser->buffer + parser->begin)) : 0;
    if (parser->header + (end ? 0 : parser->seen) > APPPOOL_HEADER_MOST)
        return fail(parser, why_too_long(parser, end));
    if (!end)
        return want_more(parser);
    wrong = read_header(parser, end);
    if (wrong)
        return fail(parser, wrong);
    parser->begin = parser->floor = (apr_size_t)(end - parser->buffer);
    parser->seen = 0;
    parser->heads++;
    if (parser->status == 101)
        return fail(parser, "the app changes the protocol, unasked");
    if (parser->status < 200)
        return APPPOOL_HTTP_INTERIM;
    parser->state = BODY;
    return APPPOOL_HTTP_HEAD;
}

/* ---- the body ---- */

/* @param left bytes that still belong to it; NULL: it has no length */
static apppool_http_event_t take_piece(apppool_http_parser_t *parser,
                                       apr_off_t *left)
{
    apr_size_t n = parser->end - parser->begin;

    if (n == 0)
        return want_more(parser);
    if (left) {
        if ((apr_off_t)n > *left)
            n = (apr_size_t)*left;
        *left -= (apr_off_t)n;
    }
    parser->piece = parser->buffer + parser->begin;
    parser->size = n;
    parser->begin += n;
    return APPPOOL_HTTP_BODY;
}

/* The trailer is read like a header. */
static apppool_http_event_t end_chunks(apppool_http_parser_t *parser)
{
    apppool_http_chunk_t *chunk = &parser->chunk;
    const char *wrong = NULL;

    parser->state = ENDED;
    if (chunk->trailer_size > 0) {
        parser->trailers = apr_table_make(parser->pool, 2);
        wrong = apppool_http_fields_read(chunk->trailer,
                                         chunk->trailer + chunk->trailer_size,
                                         parser->trailers);
    }
    return wrong ? fail(parser, wrong) : APPPOOL_HTTP_END;
}

static apppool_http_event_t take_chunks(apppool_http_parser_t *parser)
{
    apppool_http_chunk_t *chunk = &parser->chunk;
    const char *wrong = NULL;

    while (!chunk->ended && chunk->left == 0 && !wrong) {
        if (parser->begin == parser->end)
            return want_more(parser);
        wrong = apppool_http_chunk_see(chunk, parser->pool,
                                       parser->buffer[parser->begin++]);
    }
    if (wrong)
        return fail(parser, wrong);
    return chunk->ended ? end_chunks(parser) : take_piece(parser, &chunk->left);
}

/* ---- all ---- */

static apppool_http_event_t take_body(apppool_http_parser_t *parser)
{
    switch (parser->framing) {
    case APPPOOL_HTTP_CHUNKED:
        return take_chunks(parser);
    case APPPOOL_HTTP_UNTIL_END:
        return take_piece(parser, NULL);
    default:
        if (parser->framing == APPPOOL_HTTP_LENGTH && parser->left > 0)
            return take_piece(parser, &parser->left);
        parser->state = ENDED;
        return APPPOOL_HTTP_END;
    }
}

apppool_http_event_t apppool_http_parser_next(apppool_http_parser_t *parser)
{
    switch (parser->state) {
    case HEADER:
        return take_header(parser);
    case BODY:
        return take_body(parser);
    default:
        return parser->state == ENDED ? APPPOOL_HTTP_END : APPPOOL_HTTP_WRONG;
    }
}

int apppool_http_parser_end(apppool_http_parser_t *parser)
{
    if (parser->state != BODY || parser->framing != APPPOOL_HTTP_UNTIL_END)
        return 0;
    parser->state = ENDED;
    return 1;
}

int apppool_http_parser_is_clean(const apppool_http_parser_t *parser)
{
    return parser->state == ENDED && parser->begin == parser->end &&
           parser->heads == 1 && parser->minor > 0 && !parser->is_ambiguous &&
           !parser->is_preceded &&
           (parser->framing == APPPOOL_HTTP_LENGTH ||
            parser->framing == APPPOOL_HTTP_CHUNKED);
}
