/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "ctl/store_space.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "ctl/ask.h"
#include "ctl/status_table.h"
#include "ctl/store_lines.h"
#include "ctl/store_name.h"
#include "ctl/store_socket.h"
#include "shm/slots/group.h"
#include "shm/view/report_value.h"

#define LIMIT         60    /* s to wait for a response, */
#define EACH          65536 /* or for that many bytes of a long one */
#define RESPONSE_LINE 2048  /* bytes of a line: a key and some numbers */

/* ---- the socket ---- */

static int connect_to(const char *dir, const char *space, int *fd)
{
    char name[32], what[512];

    snprintf(name, sizeof name, CONTRACT_ID_FMT, apl_group_key(space));
    snprintf(what, sizeof what, "space %s", space);
    return store_socket_connect(dir, name, what, LIMIT, fd);
}

/* Connect to a space, and send a command.
 * @param each as of store_lines_begin()
 * @param out  the response; its descriptor is to be closed */
static int ask_space(const char *dir, const char *word, const char *command,
                     size_t each, store_lines_t *out)
{
    char *space;
    int fd, status = store_name_find(dir, word, &space);

    if (status != EXIT_OK)
        return status;
    status = connect_to(dir, space, &fd);
    free(space);
    if (status != EXIT_OK)
        return status;
    store_lines_begin(out, fd, LIMIT, each);
    if (send(fd, command, strlen(command), MSG_NOSIGNAL) < 0) {
        /* The next line will say that the connection has ended. */
    }
    return EXIT_OK;
}

/* @param got what store_lines_next() has returned */
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
    store_lines_t lines;
    int got, status = ask_space(dir, space, "lru_crawler metadump all\r\n",
                                EACH, &lines);

    if (status != 0)
        return status;
    while ((got = store_lines_next(&lines, line, sizeof line)) > 0 &&
           strncmp(line, "key=", 4) == 0)
        key_line(line, prefix, raw);
    close(lines.fd);
    if (got <= 0)
        return no_response(got);
    return strcmp(line, "END") == 0 ? EXIT_OK
                                    : ask_complain(EXIT_NO, "%s", line);
}

/* ---- flush ---- */

int store_space_flush(const char *dir, const char *space, int raw)
{
    char line[RESPONSE_LINE];
    store_lines_t lines;
    int got, status = ask_space(dir, space, "flush_all\r\n", 0, &lines);

    if (status != 0)
        return status;
    got = store_lines_next(&lines, line, sizeof line);
    close(lines.fd);
    if (got <= 0)
        return no_response(got);
    if (strcmp(line, "OK") != 0)
        return ask_complain(EXIT_NO, "the store refuses: %s", line);
    puts(raw ? "{\"ok\":true}" : "all items are removed");
    return EXIT_OK;
}
