/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock_ms.h"
#include "base/contract.h"
#include "ctl/ask_server.h"
#include "ctl/values.h"
#include "ctl/commands.h"
#include "shm/slots/group.h"
#include "shm/view/view.h"

#define LIMIT         60    /* s to wait for a response, */
#define EACH          65536 /* or for that many bytes of a long one */
#define RESPONSE_LINE 2048  /* bytes of a line: a key and some numbers */
#define ADMIN_LIMIT   30    /* s: the slaves take what they were not sent yet */

/* ---- the lines that the store sends ----
 *
 * It is waited for no longer than a limit in all, and not only between two
 * bytes: it may have been compromised, and send a byte now and then. Time that
 * the caller takes does not count: the reader of its output may be slow. */

typedef struct {
    int fd;
    int limit;   /* ms */
    size_t each; /* bytes for which the limit begins again; 0: never */
    int64_t waited;
    size_t got; /* since the limit began */
    size_t at, end;
    char bytes[4096];
} lines_t;

/* @param limit s to wait for all lines together
 * @param each  not for all, but again after that many bytes; 0: for all */
static void lines_begin(lines_t *l, int fd, int limit, size_t each)
{
    memset(l, 0, sizeof *l);
    l->fd = fd;
    l->limit = limit * 1000;
    l->each = each;
}

static void count(lines_t *l, size_t n)
{
    l->got += n;
    if (l->each == 0 || l->got < l->each)
        return;
    l->got = 0;
    l->waited = 0;
}

/* @return as lines_next() */
static int read_more(lines_t *l)
{
    struct pollfd one = {l->fd, POLLIN, 0};
    int64_t began = clock_ms();
    ssize_t n;
    int rv;

    if (l->waited >= l->limit)
        return -1;
    rv = poll(&one, 1, (int)(l->limit - l->waited));
    l->waited += clock_ms() - began;
    if (rv == 0)
        return -1;
    n = recv(l->fd, l->bytes, sizeof l->bytes, MSG_DONTWAIT);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return 1;
    if (n <= 0)
        return 0;
    l->at = 0;
    l->end = (size_t)n;
    count(l, l->end);
    return 1;
}

/* The next line, without its end. A line without room is given in parts.
 * @return 1; 0: the connection has ended; -1: the limit is reached */
static int lines_next(lines_t *l, char *line, size_t size)
{
    size_t n = 0;
    int rv = 1;

    while (rv == 1 && n < size - 1 && (n == 0 || line[n - 1] != '\n')) {
        if (l->at < l->end)
            line[n++] = l->bytes[l->at++];
        else
            rv = read_more(l);
    }
    line[n] = 0;
    line[strcspn(line, "\r\n")] = 0;
    return rv == 0 && n > 0 ? 1 : rv;
}

/* ---- a space ---- */

static int connect_to(const char *dir, const char *space, int *fd)
{
    char name[32], what[512];

    snprintf(name, sizeof name, CONTRACT_ID_FMT, apl_group_key(space));
    snprintf(what, sizeof what, "space %s", space);
    return store_socket_connect(dir, name, what, LIMIT, fd);
}

/* Connect to a space, and send a command.
 * @param each as of lines_begin()
 * @param out  the response; its descriptor is to be closed */
static int ask_space(const char *dir, const char *word, const char *command,
                     size_t each, lines_t *out)
{
    char *space;
    int fd, status = store_socket_space(dir, word, &space);

    if (status != EXIT_OK)
        return status;
    status = connect_to(dir, space, &fd);
    free(space);
    if (status != EXIT_OK)
        return status;
    lines_begin(out, fd, LIMIT, each);
    if (send(fd, command, strlen(command), MSG_NOSIGNAL) < 0) {
        /* The next line will say that the connection has ended. */
    }
    return EXIT_OK;
}

/* @param got what lines_next() has returned */
static int no_response(int got)
{
    if (got < 0)
        return ask_complain(EXIT_NO,
                            "the store is too slow: its response is not "
                            "complete after %d s",
                            LIMIT);
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
        values_line(key);
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

/* One key a line, with bytes and seconds to live. @param words the space, and
 * how the keys begin; NULL: all keys */
static int keys(const char *dir, int raw, const char *const *words)
{
    char line[RESPONSE_LINE];
    lines_t lines;
    int got, status = ask_space(dir, words[0], "lru_crawler metadump all\r\n",
                                EACH, &lines);

    if (status != 0)
        return status;
    while ((got = lines_next(&lines, line, sizeof line)) > 0 &&
           strncmp(line, "key=", 4) == 0)
        key_line(line, words[1], raw);
    close(lines.fd);
    if (got <= 0)
        return no_response(got);
    return strcmp(line, "END") == 0 ? EXIT_OK
                                    : ask_complain(EXIT_NO, "%s", line);
}

/* ---- flush ---- */

static int flush(const char *dir, int raw, const char *const *words)
{
    char line[RESPONSE_LINE];
    lines_t lines;
    int got, status = ask_space(dir, words[0], "flush_all\r\n", 0, &lines);

    if (status != 0)
        return status;
    got = lines_next(&lines, line, sizeof line);
    close(lines.fd);
    if (got <= 0)
        return no_response(got);
    if (strcmp(line, "OK") != 0)
        return ask_complain(EXIT_NO, "the store refuses: %s", line);
    puts(raw ? "{\"ok\":true}" : "all items are removed");
    return EXIT_OK;
}

/* ---- administration of the store ---- */

/* @return as lines_next(); 0: the store closes the connection of other
 * users than root */
static int ask_store(int fd, const char *request, char *response, size_t size)
{
    lines_t lines;

    if (send(fd, request, strlen(request), MSG_NOSIGNAL) < 0)
        return 0;
    lines_begin(&lines, fd, ADMIN_LIMIT, 0);
    return lines_next(&lines, response, size);
}

/* @param done what is printed if it is done */
static int administer(const char *dir, int raw, const char *request,
                      const char *what, const char *done)
{
    char response[256];
    int fd, got,
        status = store_socket_connect(
            dir, strrchr(CONTRACT_STORE_ADMIN, '/') + 1,
            "store that has other hosts", ADMIN_LIMIT, &fd);

    if (status != EXIT_OK)
        return status;
    got = ask_store(fd, request, response, sizeof response);
    if (got < 0)
        status = ask_complain(
            EXIT_NO, "the store is too slow: it has not responded in %d s",
            ADMIN_LIMIT);
    else if (got == 0)
        status = ask_complain(
            EXIT_NO, "the store gives no response; only root may ask for %s",
            what);
    else if (strcmp(response, "OK") == 0)
        puts(raw ? "{\"ok\":true}" : done);
    else
        status = ask_complain(EXIT_NO, "no %s: %s", what,
                              strncmp(response, "ERROR ", 6) == 0 ? response + 6
                                                                  : response);
    close(fd);
    return status;
}

static int handover(const char *dir, int raw)
{
    return administer(dir, raw, "handover\n", "handover",
                      "all slaves have all changes; the store serves nothing "
                      "until its address has moved, or for 30 s");
}

static int forget(const char *dir, int raw)
{
    return administer(dir, raw, "forget\n", "forget",
                      "this host takes the copy of the next master that it "
                      "meets; until then it is not usable");
}

/* ---- which words there are ---- */

static const struct {
    const char *word;
    /* One of these two is set: */
    int (*act)(const char *dir, int raw);
    int (*at_space)(const char *dir, int raw, const char *const *words);
    int most; /* words that follow */
} all[] = {
    {"status", store_status, NULL, 0},
    {"top", NULL, NULL, 0}, /* without more words it does not come here */
    {"ready", store_ready, NULL, 0},
    {"usable", store_usable, NULL, 0},
    {"handover", handover, NULL, 0},
    {"forget", forget, NULL, 0},
    {"keys", NULL, keys, 2},
    {"flush", NULL, flush, 1},
};

int store_command(const char *dir, int raw, const char *const *words, int n)
{
    const char *word = n > 0 ? words[0] : "status";
    size_t i = 0;
    int status;

    while (strcmp(all[i].word, word) != 0)
        if (++i == sizeof all / sizeof *all)
            return ask_complain(EXIT_USAGE, "store does not know %s", word);
    if (all[i].at_space && n < 2)
        return ask_complain(EXIT_USAGE, "store %s needs the name of a space",
                            word);
    if (n - 1 > all[i].most)
        return ask_complain(EXIT_USAGE, "store %s does not take %s", word,
                            words[1 + all[i].most]);
    status = ask_directory(&dir);
    if (status != EXIT_OK)
        return status;
    return all[i].act ? all[i].act(dir, raw)
                      : all[i].at_space(dir, raw, words + 1);
}
