/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "ctl/store_space.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "ctl/ask.h"
#include "ctl/status_table.h"
#include "shm/slots/group.h"
#include "shm/view/report_value.h"

#define LIMIT         60   /* s without a byte of the response */
#define RESPONSE_LINE 2048 /* bytes of a line: a key and some numbers */

/* ---- the socket ---- */

/* The store may have been compromised, and can put a link there to a socket of
 * another program. So no link is followed, and a socket that the user of the
 * store has not made is not used.
 * @return a descriptor that stands for the socket; -1: errno */
static int find(const char *stores, const char *space)
{
    int dir = open(stores, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), fd,
        error;
    struct stat owner, st;
    char name[32];

    if (dir < 0)
        return -1;
    snprintf(name, sizeof name, CONTRACT_ID_FMT, apl_group_key(space));
    fd = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    error = fd < 0 ? errno : 0;
    if (!error && (fstat(dir, &owner) != 0 || fstat(fd, &st) != 0 ||
                   !S_ISSOCK(st.st_mode) || st.st_uid != owner.st_uid))
        error = EPERM;
    close(dir);
    if (!error)
        return fd;
    if (fd >= 0)
        close(fd);
    errno = error;
    return -1;
}

/* Connect to the very socket that was looked at.
 * @return a descriptor; -1: errno */
static int join(int fd)
{
    static const struct timeval limit = {LIMIT, 0};
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), error;

    if (s < 0)
        return -1;
    snprintf(at.sun_path, sizeof at.sun_path, "/proc/self/fd/%d", fd);
    if (setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0 &&
        connect(s, (struct sockaddr *)&at, sizeof at) == 0)
        return s;
    error = errno;
    close(s);
    errno = error;
    return -1;
}

int store_space_connect(const char *dir, const char *space, FILE **stream)
{
    char stores[PATH_MAX];
    int at, fd;

    *stream = NULL;
    if (!ask_path(dir, CONTRACT_STORES, stores, sizeof stores))
        return ask_complain(EXIT_NO, "%s: the path is too long", dir);
    at = find(stores, space);
    if (at < 0)
        return ask_complain(EXIT_NO, "there is no space %s: %s", space,
                            strerror(errno));
    fd = join(at);
    close(at);
    if (fd >= 0)
        *stream = fdopen(fd, "r");
    if (*stream)
        return 0;
    if (fd >= 0)
        close(fd);
    return ask_complain(EXIT_NOT_RUNNING, "cannot connect to the store: %s",
                        strerror(errno));
}

int store_space_send(FILE *stream, const char *line)
{
    size_t n = strlen(line);

    return send(fileno(stream), line, n, MSG_NOSIGNAL) == (ssize_t)n;
}

static int no_response(void)
{
    return ask_complain(EXIT_NO,
                        "the store gives no response: it may be down, and it "
                        "serves only root and the users of the applications "
                        "that have this space");
}

/* ---- keys ---- */

static int hex(int c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Decode %41 in place, but not %00. */
static void decode(char *text)
{
    char *to = text;

    for (; *text; text++) {
        int high = *text == '%' ? hex((unsigned char)text[1]) : -1;
        int low = high >= 0 ? hex((unsigned char)text[2]) : -1;

        if (low >= 0 && high + low > 0) {
            *to++ = (char)(high * 16 + low);
            text += 2;
        }
        else
            *to++ = *text;
    }
    *to = 0;
}

/* The number after this word of the line, or otherwise -1. */
static long long after(const char *line, const char *word)
{
    const char *at = strstr(line, word);

    return at ? strtoll(at + strlen(word), NULL, 10) : -1;
}

/* @param exptime s since 1970, or -1: never */
static void print_key(const char *key, long long size, long long exptime,
                      int raw)
{
    char until[32] = "never expires";
    json_t *o;

    if (exptime >= 0)
        snprintf(until, sizeof until, "expires in %lld s",
                 exptime > time(NULL) ? exptime - time(NULL) : 0);
    if (raw) {
        o = json_pack("{s:o, s:I, s:o}", "key", apl_report_text(key), "size",
                      (json_int_t)size, "expires",
                      exptime < 0 ? json_null()
                                  : json_integer((json_int_t)exptime));
        json_dumpf(o, stdout, JSON_COMPACT);
        json_decref(o);
        putchar('\n');
    }
    else {
        printf("%10lld  %-22s  ", size, until);
        table_line(key);
    }
}

/* "key=a%20b exp=1700000000 ... size=72" */
static void key_line(char *line, const char *prefix, int raw)
{
    long long exptime = after(line, " exp="), size = after(line, " size=");
    char *key = line + strlen("key=");

    key[strcspn(key, " ")] = 0;
    decode(key);
    if (!prefix || strncmp(key, prefix, strlen(prefix)) == 0)
        print_key(key, size, exptime, raw);
}

int store_space_keys(const char *dir, const char *space, const char *prefix,
                     int raw)
{
    char line[RESPONSE_LINE];
    FILE *stream;
    int status = store_space_connect(dir, space, &stream), ended = 0;

    if (status != 0)
        return status;
    if (store_space_send(stream, "lru_crawler metadump all\r\n"))
        while (!ended && fgets(line, sizeof line, stream)) {
            line[strcspn(line, "\r\n")] = 0;
            ended = strncmp(line, "key=", 4) != 0;
            if (!ended)
                key_line(line, prefix, raw);
        }
    fclose(stream);
    if (!ended)
        return no_response();
    return strcmp(line, "END") == 0 ? EXIT_OK
                                    : ask_complain(EXIT_NO, "%s", line);
}

/* ---- flush ---- */

int store_space_flush(const char *dir, const char *space, int raw)
{
    char line[RESPONSE_LINE];
    FILE *stream;
    int status = store_space_connect(dir, space, &stream), responded;

    if (status != 0)
        return status;
    responded = store_space_send(stream, "flush_all\r\n") &&
                fgets(line, sizeof line, stream) != NULL;
    fclose(stream);
    if (!responded)
        return no_response();
    line[strcspn(line, "\r\n")] = 0;
    if (strcmp(line, "OK") != 0)
        return ask_complain(EXIT_NO, "the store refuses: %s", line);
    puts(raw ? "{\"ok\":true}" : "all items are removed");
    return EXIT_OK;
}
