/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* What the files of the sample app share; main.c says what it is. */

#ifndef SAMPLE_H
#define SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* ---- http.c: requests and responses */

typedef struct {
    char *name; /* the whole line is its memory */
    const char *value;
} header_t;

typedef struct {
    int fd;
    FILE *in, *out; /* buffers of fd */
    const char *method, *target, *path;
    const char *name; /* the last part of the path */
    header_t *headers;
    size_t n_headers;
    char *body;
    size_t length;
    char *line, *copy; /* the memory of the words above */
    char *query, *query_end;
} request_t;

/* Read the next request, without its body. @return false at the end of the
 * connection. The caller clears the request in both cases. */
bool request_read(request_t *request);
/* @return false if the connection ended before the length of a chunk */
bool request_read_body(request_t *request);
void request_clear(request_t *request);

/* @return the value of the header, "" without it */
const char *request_header(const request_t *request, const char *name);
/* @return the value of a parameter of the query, or the default */
const char *request_value(const request_t *request, const char *name,
                          const char *otherwise);
size_t request_number(const request_t *request, const char *name,
                      size_t otherwise);

/* Respond with a length. `more` has header lines, each with its CRLF. */
void respond(request_t *request, const char *text);
void respond_pid(request_t *request);
void respond_with(request_t *request, int status, const char *more,
                  const char *text);
void respond_bytes(request_t *request, int status, const char *more,
                   const char *type, const char *body, size_t n);

/* Write these bytes as a string of JSON; each is a character of Latin-1. */
void json_string(FILE *to, const char *bytes, size_t n);

/* ---- wait.c: time, files, and what the spawner is told */

/* @return a variable of the environment, NULL if it is not set or empty */
const char *variable(const char *name);
/* A signal does not end it early. */
void sleep_for(double seconds);
void wait_for_file(const char *path);
/* In $HOLD_DIR, create KEY.held with the pid, and wait for KEY.go. */
void hold(const char *key);
double monotonic(void);
/* @return a socket for messages to $NOTIFY_SOCKET; -1, with errno */
int notify_connect(void);
/* Send one message.  @return false, with errno, if that fails */
bool notify(const char *message);
/* Repeat until it is received: the spawner may just be restarting. */
void notify_patiently(const char *message);

/* ---- listen.c */

/* @return the socket, by the convention of the spawner that is in use */
int listening(void);

/* ---- serve.c */

/* Serve the requests of a connection, and close it. */
void serve(int fd);
void serve_in_thread(int fd);
extern int served;                 /* requests, with the present one */
extern const char *volatile doing; /* the URL */

/* ---- the URLs. Each responds, and says what happens to the connection. */

enum { KEEP, CLOSE };
typedef int url_t(request_t *request);

/* plain.c */
url_t url_pid, url_who, url_count, url_sleep, url_hold, url_work, url_echo,
    url_status, url_up;
void ledger_open(const char *directory);

/* process.c */
url_t url_process, url_daemon;
void process_note_start(void);

/* output.c */
url_t url_print, url_lines, url_gush, url_nag;

/* bulk.c */
url_t url_big, url_chunked, url_sum, url_parts, url_flood, url_cached,
    url_sendfile, url_redirect;

/* broken.c */
url_t url_close, url_nothing, url_garbage, url_head, url_early, url_surplus,
    url_fickle, url_crash, url_half, url_exit, url_stopping;

/* memory.c */
url_t url_eat, url_gorge, url_child, url_share;
void memory_eat(size_t mb);

/* stuck.c */
url_t url_loop, url_nap, url_stop, url_lock, url_read, url_sink, url_sinking,
    url_stream, url_threads, url_fork, url_worker;
int sink(const char *path);

#endif
