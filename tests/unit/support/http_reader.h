/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file http_reader.h
 * @brief Give bytes to the parser of HTTP, and note what comes out.
 */
#ifndef TESTS_UNIT_SUPPORT_HTTP_READER_H
#define TESTS_UNIT_SUPPORT_HTTP_READER_H

#include "mod_apppool/backend/http_parser.h"

#define OK      "HTTP/1.1 200 OK\r\n"
#define CHUNKED "Transfer-Encoding: chunked\r\n"

/** What has come out: the body, a mark and the text of each header ("H200 OK|",
 * or "I" if it is interim), and "REST" if something came behind the end. */
extern char http_seen[300000];

/**
 * Give it the bytes in pieces.
 * @param first   bytes of the first piece; 0: as many as of the others
 * @param piece   bytes of the others
 * @param is_head the request is HEAD
 * @return the last event
 */
apppool_http_event_t http_read_all(apppool_http_parser_t *parser,
                                   const char *bytes, size_t n, size_t first,
                                   size_t piece, int is_head);

/** Give it the whole text at once. */
apppool_http_event_t http_read_text(apppool_http_parser_t *parser,
                                    const char *text);

/** For cmocka_run_group_tests(). */
int http_reader_begin(void **state);
int http_reader_end(void **state);

#endif
