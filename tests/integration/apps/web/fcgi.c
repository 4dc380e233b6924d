/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The web app of test_web.py, with libfcgi. That file says what it has to
 * do. */

#include <fcgiapp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static FCGX_Request request;

static const char *get(const char *name)
{
    const char *value = FCGX_GetParam(name, request.envp);

    return value ? value : "";
}

static void put_many(int n)
{
    static const char many[] = "xxxxxxxxxx";

    while (n-- > 0)
        FCGX_PutStr(many, 10, request.out);
}

static void echo(void)
{
    int length = atoi(get("CONTENT_LENGTH")), n = 0, got;
    char *body = malloc((size_t)length + 1);

    while (n < length &&
           (got = FCGX_GetStr(body + n, length - n, request.in)) > 0)
        n += got;
    FCGX_FPrintF(
        request.out,
        "Content-Type: application/octet-stream\r\nContent-Length: %d\r\n"
        "Set-Cookie: a=1\r\nSet-Cookie: b=2\r\nX-Method: %s\r\n"
        "X-Mount: %s\r\nX-Path: %s\r\nX-Query: %s\r\nX-Host: %s\r\n"
        "X-Mine: %s\r\nX-Cookies: %s\r\nX-Secret: %s\r\nX-Greeting: %s\r\n"
        "X-Pid: %d\r\n\r\n",
        n, get("REQUEST_METHOD"), get("SCRIPT_NAME"), get("PATH_INFO"),
        get("QUERY_STRING"), get("HTTP_HOST"), get("HTTP_X_MINE"),
        get("HTTP_COOKIE"), get("HTTP_AUTHORIZATION"), getenv("GREETING"),
        (int)getpid());
    FCGX_PutStr(body, n, request.out);
    free(body);
}

static void status(void)
{
    const char *code = get("QUERY_STRING");

    FCGX_FPrintF(request.out, "Status: %s Status\r\nETag: \"tag\"\r\n", code);
    if (strcmp(code, "204") == 0 || strcmp(code, "304") == 0)
        FCGX_PutS("\r\n", request.out);
    else
        FCGX_PutS("Content-Type: text/plain\r\n\r\na body", request.out);
}

static void stream(void)
{
    char gate[512];
    int i;

    strcpy(gate, getenv("HOLD_DIR"));
    strcat(gate, "/");
    strncat(gate, get("QUERY_STRING"), 64);
    FCGX_PutS("Content-Type: text/event-stream\r\n\r\ndata: first\n\n",
              request.out);
    FCGX_FFlush(request.out);
    for (i = 0; i < 4000 && access(gate, F_OK) != 0; i++)
        usleep(5000);
    FCGX_PutS("data: second\n\n", request.out);
}

int main(void)
{
    FCGX_Init();
    FCGX_InitRequest(&request, 0, 0);
    while (FCGX_Accept_r(&request) == 0) {
        const char *path = get("PATH_INFO");

        if (strcmp(path, "/big") == 0) {
            FCGX_PutS("Content-Type: text/plain\r\n\r\n", request.out);
            put_many(314572);
            FCGX_PutS("xxxxxxxx", request.out);
        }
        else if (strcmp(path, "/status") == 0)
            status();
        else if (strcmp(path, "/stream") == 0)
            stream();
        else if (strcmp(path, "/crash") == 0)
            raise(SIGKILL);
        else if (strcmp(path, "/half") == 0) {
            FCGX_PutS("Content-Length: 200000\r\n\r\n", request.out);
            put_many(10000);
            FCGX_FFlush(request.out);
            raise(SIGKILL);
        }
        else
            echo();
        FCGX_Finish_r(&request);
    }
    return 0;
}
