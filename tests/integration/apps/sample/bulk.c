/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* URLs that send or read much, or in parts. */

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sample.h"

#define PERIOD 251 /* of the bytes that a test expects */
#define PIECE  (PERIOD * 262)

/* /big?n=N */
int url_big(request_t *r)
{
    size_t n = request_number(r, "n", 0);
    char *body = malloc(n + 1);

    memset(body, 'x', n);
    respond_bytes(r, 200, "", "text/plain", body, n);
    free(body);
    return KEEP;
}

/* /chunked?n=PARTS */
int url_chunked(request_t *r)
{
    size_t n = request_number(r, "n", 0), i;
    char part[32];

    fputs("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", r->out);
    for (i = 0; i < n; i++) {
        int length = snprintf(part, sizeof part, "part %zu\n", i);

        fprintf(r->out, "%x\r\n%s\r\n", (unsigned)length, part);
        fflush(r->out);
    }
    fputs("0\r\n\r\n", r->out);
    return KEEP;
}

/* As zlib has it. */
static uint32_t crc32(uint32_t crc, const unsigned char *bytes, size_t n)
{
    static uint32_t table[256];
    uint32_t i, bit;

    for (i = 0; table[255] == 0 && i < 256; i++) {
        table[i] = i;
        for (bit = 0; bit < 8; bit++)
            table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320 : 0);
    }
    crc = ~crc;
    while (n-- > 0)
        crc = table[(crc ^ *bytes++) & 255] ^ crc >> 8;
    return ~crc;
}

/* Reads a body of any length, piece by piece. */
int url_sum(request_t *r)
{
    size_t length = (size_t)atoll(request_header(r, "Content-Length"));
    size_t left = length, n, i;
    unsigned char piece[32768];
    uint32_t crc = 0;
    char *json;
    FILE *to;

    for (; left > 0; left -= n) {
        n = fread(piece, 1, left < sizeof piece ? left : sizeof piece, r->in);
        if (n == 0)
            return CLOSE;
        crc = crc32(crc, piece, n);
    }
    to = open_memstream(&json, &n);
    fprintf(to, "{\"length\": %zu, \"crc\": %u, \"names\": [", length, crc);
    for (i = 0; i < r->n_headers; i++) {
        char *name = r->headers[i].name, *at;

        for (at = name; *at; at++)
            *at = (char)tolower((unsigned char)*at);
        fputs(i > 0 ? ", " : "", to);
        json_string(to, name, strlen(name));
    }
    fputs("]}", to);
    fclose(to);
    respond_bytes(r, 200, "", "application/json", json, n);
    free(json);
    return KEEP;
}

/* Copy the n bytes that a test expects from this place on. */
static void put_expected(unsigned char *to, size_t at, size_t n)
{
    size_t i;

    for (i = 0; i < n; i++)
        to[i] = (unsigned char)((at + i) % PERIOD);
}

/* ---- responses that come in parts: type=, accel=, chunked=1 */

static bool is_chunked(const request_t *r)
{
    return request_value(r, "chunked", NULL) != NULL;
}

static void begin(request_t *r, size_t size)
{
    const char *accel = request_value(r, "accel", NULL);

    fprintf(r->out, "HTTP/1.1 200 OK\r\nContent-Type: %s\r\n",
            request_value(r, "type", "text/plain"));
    if (accel)
        fprintf(r->out, "X-Accel-Buffering: %s\r\n", accel);
    if (is_chunked(r))
        fputs("Transfer-Encoding: chunked\r\n\r\n", r->out);
    else
        fprintf(r->out, "Content-Length: %zu\r\n\r\n", size);
}

/* @return false if the client reads no more */
static bool send_expected(request_t *r, size_t at, size_t size)
{
    unsigned char piece[PIECE];
    size_t n;

    for (; size > 0 && !ferror(r->out); at += n, size -= n) {
        n = size < PIECE ? size : PIECE;
        put_expected(piece, at, n);
        if (is_chunked(r))
            fprintf(r->out, "%zx\r\n", n);
        fwrite(piece, 1, n, r->out);
        if (is_chunked(r))
            fputs("\r\n", r->out);
    }
    return fflush(r->out) == 0;
}

static void end(request_t *r)
{
    if (is_chunked(r))
        fputs("0\r\n\r\n", r->out);
}

/* /parts?n=N&keys=K,...: N bytes and a pause for each of the keys;
 * stubborn=1: continues when the client reads no more */
int url_parts(request_t *r)
{
    size_t size = request_number(r, "n", 0), n = 1;
    char *keys = strdup(request_value(r, "keys", "")), *rest, *key;
    bool stubborn = request_value(r, "stubborn", NULL) != NULL;

    for (key = keys; *key; key++)
        n += *key == ',';
    begin(r, size * n);
    for (key = strtok_r(keys, ",", &rest); key;
         key = strtok_r(NULL, ",", &rest)) {
        if (!send_expected(r, 0, size) && !stubborn)
            break;
        hold(key);
    }
    end(r);
    free(keys);
    return KEEP;
}

/* /flood?n=N&m=M&key=K: N bytes, and M more when K.go exists */
int url_flood(request_t *r)
{
    size_t first = request_number(r, "n", 0);
    size_t more = request_number(r, "m", 0);

    begin(r, first + more);
    if (!send_expected(r, 0, first))
        return CLOSE;
    if (more > 0) {
        hold(request_value(r, "key", ""));
        send_expected(r, first, more);
    }
    end(r);
    return KEEP;
}

/* /cached?n=N: the response may be cached for a while. */
int url_cached(request_t *r)
{
    size_t n = request_number(r, "n", 0);
    unsigned char *body = malloc(n + 1);

    put_expected(body, 0, n);
    respond_bytes(r, 200, "Cache-Control: max-age=100\r\n", "text/plain",
                  (char *)body, n);
    free(body);
    return KEEP;
}

/* ---- what httpd does for it */

/* /sendfile?n=N&code=CODE&etag=1: names a file that httpd should send, in the
 * header X-Name. Its own body is N times the same. */
int url_sendfile(request_t *r)
{
    size_t n = request_number(r, "n", 1), length;
    char *body, more[4096];
    FILE *to = open_memstream(&body, &length);

    while (n-- > 0)
        fputs("the app's own", to);
    fclose(to);
    snprintf(more, sizeof more,
             "X-Sendfile: %s\r\nX-App: here\r\n"
             "Content-Disposition: attachment\r\nX-Was-Offered: %s\r\n%s",
             request_header(r, "X-Name"), request_header(r, "X-Sendfile-Type"),
             request_value(r, "etag", NULL) ? "ETag: \"mine\"\r\n" : "");
    respond_bytes(r, (int)request_number(r, "code", 200), more, "text/plain",
                  body, length);
    free(body);
    return KEEP;
}

/* /redirect?to=PATH: as an app that knows where it is mounted, or does not
 * (bare=1) */
int url_redirect(request_t *r)
{
    char more[4096], to[2048], *at;

    snprintf(to, sizeof to, "%s", request_value(r, "to", ""));
    while ((at = strstr(to, "%20"))) {
        *at = ' ';
        memmove(at + 1, at + 3, strlen(at + 3) + 1);
    }
    snprintf(more, sizeof more, "Location: %s%s\r\n",
             request_value(r, "bare", NULL)
                 ? ""
                 : request_header(r, "X-Forwarded-Prefix"),
             to);
    respond_with(r, 302, more, "");
    return KEEP;
}
