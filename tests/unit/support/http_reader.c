/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "tests/unit/support/http_reader.h"

#include <apr_general.h>
#include <string.h>

#include "tests/unit/support/scene.h"

static apr_pool_t *pool;

char http_seen[300000];
static size_t n_seen;

static void note(const char *bytes, size_t n)
{
    assert_true(n_seen + n < sizeof http_seen);
    memcpy(http_seen + n_seen, bytes, n);
    n_seen += n;
    http_seen[n_seen] = 0;
}

static void note_text(const char *text)
{
    note(text, strlen(text));
}

static int note_field(void *unused, const char *name, const char *value)
{
    (void)unused;
    note_text(name);
    note_text("=");
    note_text(value);
    note_text(";");
    return 1;
}

static void note_head(const apppool_http_parser_t *parser, const char *mark)
{
    note_text(mark);
    note_text(parser->status_line);
    note_text("|");
    apr_table_do(note_field, NULL, parser->fields, NULL);
}

/* Use what is there. @return 0: it wants no more */
static int take(apppool_http_parser_t *parser, apppool_http_event_t *event)
{
    for (;;)
        switch (*event = apppool_http_parser_next(parser)) {
        case APPPOOL_HTTP_INTERIM:
            note_head(parser, "I");
            break;
        case APPPOOL_HTTP_HEAD:
            note_head(parser, "H");
            break;
        case APPPOOL_HTTP_BODY:
            assert_true(parser->size > 0);
            note(parser->piece, parser->size);
            break;
        case APPPOOL_HTTP_MORE:
            return 1;
        default:
            return 0;
        }
}

/* Give it the bytes. @return the last event */
apppool_http_event_t http_read_all(apppool_http_parser_t *parser,
                                   const char *bytes, size_t n, size_t first,
                                   size_t piece, int is_head)
{
    apppool_http_event_t event = APPPOOL_HTTP_MORE;
    size_t at, some;
    apr_size_t room;
    char *to;

    apr_pool_clear(pool);
    apppool_http_parser_begin(parser, pool, is_head);
    n_seen = 0;
    http_seen[0] = 0;
    for (at = 0; at < n; at += some) {
        to = apppool_http_parser_room(parser, &room);
        assert_true(room > 0);
        some = at == 0 && first ? first : piece;
        some = some < n - at ? some : n - at;
        some = some < room ? some : room;
        memcpy(to, bytes + at, some);
        apppool_http_parser_fill(parser, some);
        if (!take(parser, &event)) {
            /* What is left comes behind the response. */
            if (event == APPPOOL_HTTP_END && at + some < n)
                note_text("REST");
            break;
        }
    }
    return event;
}

apppool_http_event_t http_read_text(apppool_http_parser_t *parser,
                                    const char *text)
{
    return http_read_all(parser, text, strlen(text), 0, strlen(text), 0);
}

int http_reader_begin(void **state)
{
    (void)state;
    apr_initialize();
    return apr_pool_create(&pool, NULL) != APR_SUCCESS;
}

int http_reader_end(void **state)
{
    (void)state;
    apr_pool_destroy(pool);
    return 0;
}
