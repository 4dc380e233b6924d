/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Requests and responses of HTTP/1.1. Its client is httpd, so it checks
 * little. */

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "sample.h"

#define SPACE " \t\r\n"

/* @return the text without white space at both ends, in place */
static char *stripped(char *text)
{
    size_t n;

    text += strspn(text, SPACE);
    for (n = strlen(text); n > 0 && strchr(SPACE, text[n - 1]);)
        text[--n] = 0;
    return text;
}

/* @return the next line of the connection without its end; NULL at the end
 * of the connection */
static char *next_line(request_t *r)
{
    char *line = NULL;
    size_t size = 0;

    if (getline(&line, &size, r->in) < 0) {
        free(line);
        return NULL;
    }
    return line;
}

/* The path, its last part, and the query, with a 0 after each parameter. */
static void split_target(request_t *r)
{
    char *at, *end;

    r->path = r->copy = strdup(r->target);
    r->query_end = r->copy + strlen(r->copy);
    at = strchr(r->copy, '?');
    r->query = at ? at + 1 : r->query_end;
    end = at ? at : r->query_end;
    while (end > r->copy && end[-1] == '/')
        end--;
    *end = 0;
    r->name = strrchr(r->copy, '/');
    r->name = r->name ? r->name + 1 : r->copy;
    for (at = r->query; at < r->query_end; at++)
        if (*at == '&')
            *at = 0;
}

static bool read_first_line(request_t *r)
{
    char *rest;

    r->line = next_line(r);
    if (!r->line)
        return false;
    r->method = strtok_r(r->line, SPACE, &rest);
    r->target = r->method ? strtok_r(NULL, SPACE, &rest) : NULL;
    if (!r->target || !strtok_r(NULL, SPACE, &rest))
        return false;
    split_target(r);
    return true;
}

bool request_read(request_t *r)
{
    char *line, *text, *colon;

    if (!read_first_line(r))
        return false;
    if (strcmp(r->name, "poison") == 0)
        raise(SIGKILL); /* it has read no more than READS of it */
    while ((line = next_line(r)) && *(text = stripped(line))) {
        header_t *header;

        r->headers = realloc(r->headers, (r->n_headers + 1) * sizeof *header);
        header = &r->headers[r->n_headers++];
        memmove(line, text, strlen(text) + 1);
        colon = strchr(line, ':');
        if (colon)
            *colon++ = 0;
        header->name = line;
        header->value = colon ? stripped(colon) : "";
    }
    free(line);
    return true;
}

static void read_more(request_t *r, size_t n)
{
    r->body = realloc(r->body, r->length + n + 1);
    r->length += fread(r->body + r->length, 1, n, r->in);
    r->body[r->length] = 0;
}

bool request_read_body(request_t *r)
{
    char *line;
    size_t size;

    if (!strstr(request_header(r, "Transfer-Encoding"), "chunked")) {
        read_more(r, (size_t)atoll(request_header(r, "Content-Length")));
        return true;
    }
    do {
        if (!(line = next_line(r)))
            return false;
        size = strtoull(line, NULL, 16);
        free(line);
        read_more(r, size);
        free(next_line(r));
    } while (size > 0);
    return true;
}

void request_clear(request_t *r)
{
    size_t i;

    for (i = 0; i < r->n_headers; i++)
        free(r->headers[i].name);
    free(r->headers);
    free(r->line);
    free(r->copy);
    free(r->body);
}

const char *request_header(const request_t *r, const char *name)
{
    size_t i;

    for (i = 0; i < r->n_headers; i++)
        if (strcasecmp(r->headers[i].name, name) == 0)
            return r->headers[i].value;
    return "";
}

const char *request_value(const request_t *r, const char *name,
                          const char *otherwise)
{
    size_t n = strlen(name);
    const char *at;

    for (at = r->query; at < r->query_end; at += strlen(at) + 1)
        if (strncmp(at, name, n) == 0 && at[n] == '=')
            return at + n + 1;
    return otherwise;
}

size_t request_number(const request_t *r, const char *name, size_t otherwise)
{
    const char *value = request_value(r, name, NULL);

    return value ? strtoull(value, NULL, 10) : otherwise;
}

static const char *phrase(int status)
{
    return status == 200   ? "OK"
           : status == 204 ? "No Content"
           : status == 304 ? "Not Modified"
                           : "Status";
}

void respond_bytes(request_t *r, int status, const char *more, const char *type,
                   const char *body, size_t n)
{
    bool has_body = status != 204 && status != 304;

    fprintf(r->out, "HTTP/1.1 %d %s\r\n", status, phrase(status));
    if (has_body)
        fprintf(r->out, "Content-Type: %s\r\nContent-Length: %zu\r\n", type, n);
    fprintf(r->out, "%s\r\n", more);
    if (has_body && strcmp(r->method, "HEAD") != 0)
        fwrite(body, 1, n, r->out);
    fflush(r->out);
}

void respond_with(request_t *r, int status, const char *more, const char *text)
{
    respond_bytes(r, status, more, "text/plain", text, strlen(text));
}

void respond(request_t *r, const char *text)
{
    respond_with(r, 200, "", text);
}

void respond_pid(request_t *r)
{
    char text[16];

    snprintf(text, sizeof text, "%d", (int)getpid());
    respond(r, text);
}

void json_string(FILE *to, const char *bytes, size_t n)
{
    size_t i;

    putc('"', to);
    for (i = 0; i < n; i++) {
        unsigned char c = (unsigned char)bytes[i];

        if (c < ' ' || c > '~')
            fprintf(to, "\\u%04x", c);
        else
            fprintf(to, c == '"' || c == '\\' ? "\\%c" : "%c", c);
    }
    putc('"', to);
}
