/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The web app of test_web.py as one static program that speaks HTTP on
 * 127.0.0.1:$PORT; that file says what it has to do. It serves one connection
 * at a time, with one request on each. */

#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

static FILE *in, *out;
static char method[16], path[1024], query[1024], headers[16384];

/* The value of a header. */
static const char *get(const char *name)
{
    static char values[8][1024];
    static int next;
    char *value = values[next++ % 8], *line = headers;
    size_t n = strlen(name);

    *value = 0;
    for (; *line; line += strlen(line) + 1)
        if (strncasecmp(line, name, n) == 0 && line[n] == ':')
            snprintf(value, 1024, "%s", line + n + 1 + (line[n + 1] == ' '));
    return value;
}

/* %20 and the like. */
static void decode(char *s)
{
    char *to = s;
    unsigned c;

    for (; *s; s++, to++)
        if (*s == '%' && sscanf(s + 1, "%2x", &c) == 1) {
            *to = (char)c;
            s += 2;
        }
        else
            *to = *s;
    *to = 0;
}

/* @return 0: there is none */
static int read_head(void)
{
    char *at = headers, target[2048];

    if (fscanf(in, "%15s %2047s %*s", method, target) != 2)
        return 0;
    fgets(headers, sizeof headers, in);
    while (fgets(at, (int)(headers + sizeof headers - at - 1), in) &&
           strcspn(at, "\r\n") > 0) {
        at[strcspn(at, "\r\n")] = 0;
        at += strlen(at) + 1;
    }
    *at = 0;
    sscanf(target, "%1023[^?]", path);
    snprintf(query, sizeof query, "%s",
             strchr(target, '?') ? strchr(target, '?') + 1 : "");
    decode(path);
    return 1;
}

static char *read_body(size_t *n)
{
    char *body = malloc(8 << 20), line[64];
    size_t size;

    *n = 0;
    if (!*get("Transfer-Encoding")) {
        *n = fread(body, 1, strtoul(get("Content-Length"), NULL, 10), in);
        return body;
    }
    while (fgets(line, sizeof line, in) &&
           (size = strtoul(line, NULL, 16)) > 0) {
        *n += fread(body + *n, 1, size, in);
        fgets(line, sizeof line, in);
    }
    return body;
}

static void put(const char *text)
{
    if (strcmp(method, "HEAD") != 0)
        fputs(text, out);
    fflush(out);
}

static void put_many(int n)
{
    while (n-- > 0)
        fputc('x', out);
    fflush(out);
}

static void head(const char *code, const char *type)
{
    fprintf(out, "HTTP/1.1 %s Status\r\nConnection: close\r\n", code);
    if (type)
        fprintf(out, "Content-Type: %s\r\n", type);
}

static void echo(void)
{
    size_t n;
    char *body = read_body(&n);

    head("200", "application/octet-stream");
    fprintf(out,
            "Content-Length: %zu\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n"
            "X-Method: %s\r\nX-Mount: %s\r\nX-Path: %s\r\nX-Query: %s\r\n",
            n, method, get("X-Forwarded-Prefix"), path, query);
    fprintf(out,
            "X-Host: %s\r\nX-Mine: %s\r\nX-Cookies: %s\r\nX-Secret: %s\r\n"
            "X-Greeting: %s\r\nX-Pid: %d\r\n\r\n",
            get("Host"), get("X-Mine"), get("Cookie"), get("Authorization"),
            getenv("GREETING"), (int)getpid());
    fwrite(body, 1, n, out);
    free(body);
}

static void status(void)
{
    int bare = strcmp(query, "204") == 0 || strcmp(query, "304") == 0;

    head(query, bare ? NULL : "text/plain");
    fputs("ETag: \"tag\"\r\n\r\n", out);
    if (!bare)
        put("a body");
}

static void stream(void)
{
    char gate[2048];
    int i;

    snprintf(gate, sizeof gate, "%s/%s", getenv("HOLD_DIR"), query);
    head("200", "text/event-stream");
    put("\r\ndata: first\n\n");
    for (i = 0; i < 4000 && access(gate, F_OK) != 0; i++)
        usleep(5000);
    put("data: second\n\n");
}

static void respond(void)
{
    if (strcmp(path, "/big") == 0) {
        head("200", "text/plain");
        fputs("\r\n", out);
        put_many(3 << 20);
    }
    else if (strcmp(path, "/status") == 0)
        status();
    else if (strcmp(path, "/stream") == 0)
        stream();
    else if (strcmp(path, "/crash") == 0)
        raise(SIGKILL);
    else if (strcmp(path, "/half") == 0) {
        head("200", "text/plain");
        fputs("Content-Length: 200000\r\n\r\n", out);
        put_many(100000);
        raise(SIGKILL);
    }
    else
        echo();
}

int main(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET};
    int client, on = 1, listener = socket(AF_INET, SOCK_STREAM, 0);

    signal(SIGPIPE, SIG_IGN);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    at.sin_port = htons((uint16_t)atoi(getenv("PORT")));
    if (bind(listener, (struct sockaddr *)&at, sizeof at) != 0 ||
        listen(listener, 64) != 0) {
        perror("listen");
        return 1;
    }
    while ((client = accept(listener, NULL, NULL)) >= 0) {
        in = fdopen(client, "r");
        out = fdopen(dup(client), "w");
        if (read_head())
            respond();
        fclose(out);
        fclose(in);
    }
    return 1;
}
