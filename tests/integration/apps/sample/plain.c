/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* URLs whose responses are right. */

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sample.h"

static int ledger = -1;

static const char *name_of_app(void)
{
    const char *name = getenv("APP_NAME");

    return name ? name : "?";
}

/* /pid?n=N: its pid twice and N bytes more, so a client sees if some are
 * missing. */
int url_pid(request_t *r)
{
    size_t more = request_number(r, "n", 0);
    char *body = malloc(more + 16), header[32];
    size_t n = (size_t)sprintf(body, "%d", (int)getpid());

    memset(body + n, 'x', more);
    sprintf(header, "X-Pid: %d\r\n", (int)getpid());
    respond_bytes(r, 200, header, "text/plain", body, n + more);
    free(body);
    return KEEP;
}

int url_who(request_t *r)
{
    char text[256];

    snprintf(text, sizeof text, "%s %d", name_of_app(), (int)getpid());
    respond(r, text);
    return KEEP;
}

int url_count(request_t *r)
{
    char text[16];

    snprintf(text, sizeof text, "%d", served);
    respond(r, text);
    return KEEP;
}

/* /sleep?s=SECONDS */
int url_sleep(request_t *r)
{
    sleep_for(atof(request_value(r, "s", "1")));
    respond_pid(r);
    return KEEP;
}

/* /hold?key=KEY: see HOLD_DIR in main.c */
int url_hold(request_t *r)
{
    hold(request_value(r, "key", ""));
    respond_pid(r);
    return KEEP;
}

void ledger_open(const char *directory)
{
    char path[512];

    snprintf(path, sizeof path, "%s/%s.%d.%.6f", directory, name_of_app(),
             (int)getpid(), monotonic());
    ledger = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
}

/* Does the body repeat the number fifty times? */
static bool is_of(const request_t *r, const char *number)
{
    size_t n = strlen(number), i;

    for (i = 0; r->length == 50 * n && i < r->length; i += n)
        if (memcmp(r->body + i, number, n) != 0)
            return false;
    return r->length == 50 * n;
}

/* The part of the path before the last one. */
static void previous_part(const request_t *r, char *part, size_t size)
{
    size_t end = (size_t)(r->name - r->path) - 1, begin = end;

    while (begin > 0 && r->path[begin - 1] != '/')
        begin--;
    snprintf(part, size, "%.*s", (int)(end - begin), r->path + begin);
}

/* /ID/work?s=SECONDS&n=BYTES: the ledger has the end before a client can know
 * it. */
int url_work(request_t *r)
{
    size_t least = request_number(r, "n", 0), n;
    char *body = malloc(least + 512), number[128];

    previous_part(r, number, sizeof number);
    dprintf(ledger, "began %.6f %s\n", monotonic(), number);
    sleep_for(atof(request_value(r, "s", "0")));
    dprintf(ledger, "ended %.6f %s\n", monotonic(), number);
    n = (size_t)snprintf(body, 512, "%s %d %s", name_of_app(), (int)getpid(),
                         number);
    if (n < least)
        memset(body + n, ' ', least - n);
    respond_bytes(r,
                  strcmp(r->method, "GET") == 0 || is_of(r, number) ? 200 : 400,
                  "", "text/plain", body, n > least ? n : least);
    free(body);
    return KEEP;
}

/* The request as JSON. */
int url_echo(request_t *r)
{
    char *json;
    size_t n, i;
    FILE *to = open_memstream(&json, &n);

    fprintf(to, "{\"method\": \"%s\", \"target\": ", r->method);
    json_string(to, r->target, strlen(r->target));
    fprintf(to, ", \"length\": %zu, \"headers\": [", r->length);
    for (i = 0; i < r->n_headers; i++) {
        fputs(i > 0 ? ", [" : "[", to);
        json_string(to, r->headers[i].name, strlen(r->headers[i].name));
        fputs(", ", to);
        json_string(to, r->headers[i].value, strlen(r->headers[i].value));
        putc(']', to);
    }
    fputs("], \"body\": ", to);
    json_string(to, r->body, r->length < 65536 ? r->length : 65536);
    putc('}', to);
    fclose(to);
    respond_bytes(r, 200,
                  "X-Two: 1\r\nX-Two: 2\r\n"
                  "Set-Cookie: a=1\r\nSet-Cookie: b=2\r\n",
                  "application/json", json, n);
    free(json);
    return KEEP;
}

/* /status?code=CODE */
int url_status(request_t *r)
{
    respond_with(r, (int)request_number(r, "code", 200),
                 "X-App: here\r\nETag: \"tag\"\r\n", "a body");
    return KEEP;
}

/* Is it warm? The log has the Host header of the request. */
int url_up(request_t *r)
{
    const char *file = variable("UP_IF");

    printf("asked for %s\n", request_header(r, "Host"));
    fflush(stdout);
    respond_with(r, !file || access(file, F_OK) == 0 ? 200 : 503, "", "");
    return KEEP;
}
