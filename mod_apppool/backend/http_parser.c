/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/backend/http_parser.h"

#include <apr_lib.h>
#include <apr_strings.h>
#include <string.h>
#include <strings.h>

#include "mod_apppool/backend/header_size.h"

#define BUFFER     (32 * 1024) /* bytes that are read at once */
#define FEW        4096        /* of a header that has no body */
#define ROOM       (16 * 1024) /* within a body, at least */
#define FIRST_LINE 12          /* bytes of "HTTP/1.1 200" */
#define CODE       3           /* digits of a status */

#define LENGTH_DIGITS                                                          \
    18 /* of Content-Length, at most: it fits into apr_off_t */
#define SIZE_DIGITS    15   /* of the size of a chunk, at most */
#define EXTENSION_MOST 1024 /* bytes behind that size */

/* What the next byte belongs to. */
enum { HEADER, BODY, ENDED, WRONG };

/* And within a body of chunks. */
enum {
    CHUNK_SIZE,
    CHUNK_EXTENSION,
    CHUNK_SIZE_LF,
    CHUNK_END_CR,
    CHUNK_END_LF,
    CHUNK_TRAILER,
    CHUNK_TRAILER_LF
};

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
    apr_size_t more = in_header && parser->may_switch ? FEW : BUFFER;
    char *buffer;

    if (left == 0 || (!in_header && left < ROOM)) {
        parser->capacity = held + more;
        buffer = apr_palloc(parser->pool, parser->capacity);
        if (held > 0)
            memcpy(buffer, parser->buffer + parser->begin, held);
        parser->buffer = buffer;
        parser->begin = parser->floor = 0;
        parser->end = held;
        left = more;
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

/* ---- the fields of a header ---- */

/* RFC 9110, section 5.6.2. */
static int is_token(const char *at, const char *end)
{
    const char *from = at;

    for (; at < end; at++)
        if (!apr_isalnum(*at) && (*at == 0 || !strchr("!#$%&'*+-.^_`|~", *at)))
            return 0;
    return end > from;
}

static int is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* The end of a field: behind the LF of the last line that continues it. The
 * ends of the lines before become spaces. */
static char *end_of(char *at, char *end)
{
    char *lf = memchr(at, '\n', (size_t)(end - at));

    while (lf && lf + 1 < end && is_blank(lf[1])) {
        *lf = ' ';
        if (lf > at && lf[-1] == '\r')
            lf[-1] = ' ';
        lf = memchr(lf, '\n', (size_t)(end - lf));
    }
    return lf ? lf + 1 : end;
}

/* @param end behind the LF */
static const char *read_one(char *at, char *end, apr_table_t *fields)
{
    char *colon = memchr(at, ':', (size_t)(end - at)), *value;

    if (!colon)
        return "a line of the header has no colon";
    if (!is_token(at, colon))
        return "the name of a field is no token";
    value = colon + 1;
    end--; /* the LF */
    if (end > value && end[-1] == '\r')
        end--;
    while (end > value && is_blank(end[-1]))
        end--;
    while (value < end && is_blank(*value))
        value++;
    if (memchr(value, 0, (size_t)(end - value)) ||
        memchr(value, '\r', (size_t)(end - value)))
        return "the value of a field has a zero byte or CR";
    *colon = *end = 0;
    apr_table_addn(fields, at, value);
    return NULL;
}

/* Read all lines. They are changed, and stay where they are as long as the
 * table.
 * @param end behind the LF of the last line, which is not empty
 * @return NULL; or what is wrong, a constant */
static const char *read_fields(char *at, char *end, apr_table_t *fields)
{
    const char *wrong = NULL;
    char *next;

    if (at < end && is_blank(*at))
        return "the header begins with a space";
    for (; at < end && !wrong; at = next) {
        next = end_of(at, end);
        wrong = read_one(at, next, fields);
    }
    return wrong;
}

typedef struct {
    apr_off_t length;
    const char *wrong;
} search_t;

static int see_length(void *search_, const char *name, const char *value)
{
    search_t *search = search_;
    size_t n = strspn(value, "0123456789");
    apr_off_t length = 0;
    size_t i;

    (void)name;
    for (i = 0; i < n && n <= LENGTH_DIGITS; i++)
        length = length * 10 + (value[i] - '0');
    if (n == 0 || n > LENGTH_DIGITS || value[n] != 0)
        search->wrong = "Content-Length is not a number";
    else if (search->length >= 0 && search->length != length)
        search->wrong = "there are two different values of Content-Length";
    search->length = length;
    return search->wrong == NULL;
}

/* The length of the body that the fields name.
 * @param length -1: they name none
 * @return NULL; or what is wrong, a constant */
static const char *read_length(const apr_table_t *fields, apr_off_t *length)
{
    search_t search = {-1, NULL};

    apr_table_do(see_length, &search, fields, "Content-Length", NULL);
    *length = search.length;
    return search.wrong;
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
    const char *wrong = read_length(parser->fields, &parser->left);

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
    wrong = read_fields(lf + 1, end, parser->fields);
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
    if (parser->status == 101 && !parser->may_switch)
        return fail(parser, "the app changes the protocol, unasked");
    if (parser->status == 101)
        parser->framing = APPPOOL_HTTP_UNTIL_END;
    else if (parser->status < 200)
        return APPPOOL_HTTP_INTERIM;
    parser->state = BODY;
    return APPPOOL_HTTP_HEAD;
}

/* ---- between two chunks ---- */

/* @return -1: it is no digit */
static int value_of(char c)
{
    if (apr_isdigit(c))
        return c - '0';
    c = (char)(c | ('a' ^ 'A'));
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The size, or what follows it in its line. */
static const char *see_size(apppool_http_chunk_t *chunk, char c)
{
    static const char wrong[] = "the size of a chunk is not a number";
    int value = value_of(c);

    if (chunk->state == CHUNK_SIZE && value >= 0) {
        if (++chunk->digits > SIZE_DIGITS)
            return wrong;
        chunk->size = chunk->size * 16 + value;
        return NULL;
    }
    if (chunk->digits == 0)
        return wrong;
    if (c == '\r')
        chunk->state = CHUNK_SIZE_LF;
    else if (chunk->state == CHUNK_SIZE && c != ';' && c != ' ' && c != '\t')
        return wrong;
    else if (apr_iscntrl(c) && c != '\t')
        return "the extension of a chunk has a control character";
    else
        chunk->state = CHUNK_EXTENSION;
    return ++chunk->line > EXTENSION_MOST
               ? "the extension of a chunk is too long"
               : NULL;
}

static const char *end_size(apppool_http_chunk_t *chunk, char c)
{
    if (c != '\n')
        return "the size of a chunk ends with CR alone";
    chunk->left = chunk->size;
    chunk->state = chunk->size > 0 ? CHUNK_END_CR : CHUNK_TRAILER;
    chunk->size = chunk->digits = chunk->line = 0;
    return NULL;
}

static const char *see_end(apppool_http_chunk_t *chunk, char c)
{
    if (c != (chunk->state == CHUNK_END_CR ? '\r' : '\n'))
        return "a chunk is longer than its size";
    chunk->state = chunk->state == CHUNK_END_CR ? CHUNK_END_LF : CHUNK_SIZE;
    return NULL;
}

/* An empty line ends it. It is not stored. */
static const char *see_trailer(apppool_http_chunk_t *chunk, apr_pool_t *pool,
                               char c)
{
    apr_size_t n = chunk->trailer_size;
    char last = n > 0 ? chunk->trailer[n - 1] : '\n';

    if (c == '\r' && last == '\n') {
        chunk->state = CHUNK_TRAILER_LF;
        return NULL;
    }
    if (c == '\n' && last != '\r')
        return "a line of the trailer ends without CR";
    if (!chunk->trailer)
        chunk->trailer = apr_palloc(pool, APPPOOL_HTTP_TRAILER);
    if (n == APPPOOL_HTTP_TRAILER)
        return "the trailer of the response is too long";
    chunk->trailer[chunk->trailer_size++] = c;
    return NULL;
}

static const char *end_trailer(apppool_http_chunk_t *chunk, char c)
{
    chunk->ended = c == '\n';
    return chunk->ended ? NULL : "the trailer of the response has a CR alone";
}

/* See a byte that belongs to no chunk.
 * @param pool for the trailer
 * @return NULL; or what is wrong, a constant */
static const char *see_byte(apppool_http_chunk_t *chunk, apr_pool_t *pool,
                            char c)
{
    switch (chunk->state) {
    case CHUNK_SIZE:
    case CHUNK_EXTENSION:
        return see_size(chunk, c);
    case CHUNK_SIZE_LF:
        return end_size(chunk, c);
    case CHUNK_END_CR:
    case CHUNK_END_LF:
        return see_end(chunk, c);
    case CHUNK_TRAILER_LF:
        return end_trailer(chunk, c);
    default:
        return see_trailer(chunk, pool, c);
    }
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
        wrong =
            read_fields(chunk->trailer, chunk->trailer + chunk->trailer_size,
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
        wrong = see_byte(chunk, parser->pool, parser->buffer[parser->begin++]);
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
