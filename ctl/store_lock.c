/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "ctl/store_lock.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "ctl/ask.h"
#include "ctl/store_space.h"
#include "base/clock_ms.h"

#define LINE    256
#define KEY     "apppool:once:%s"
#define REPLIES 60000 /* ms: the longest wait for all replies, */
#define LAST    5000  /* and for that to the unlock */
#define TRIES   3     /* an item may be evicted before it is locked */

int store_lock_is_name(const char *name)
{
    size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVW"
                            "XYZ0123456789._-");

    return n > 0 && n <= STORE_LOCK_NAME && !name[n];
}

/* A connection, and how to wait for its replies. */
typedef struct {
    int fd;
    store_lock_wait_t *wait;
    int64_t until;   /* ms: for all replies */
    char line[LINE]; /* the last reply; "": there is none */
} talk_t;

/* Read the line that the store sends, which sends no other one unasked. */
static void read_reply(talk_t *t)
{
    size_t used = 0;
    ssize_t n = 1;

    t->line[0] = 0;
    while (!strchr(t->line, '\n') && used < LINE - 1 && n > 0) {
        n = clock_ms() < t->until && t->wait(t->fd, t->until)
                ? recv(t->fd, t->line + used, LINE - 1 - used, 0)
                : 0;
        used += n > 0 ? (size_t)n : 0;
        t->line[used] = 0;
    }
    if (n <= 0)
        t->line[0] = 0;
    t->line[strcspn(t->line, "\r\n")] = 0;
}

/* Send a command. @return the reply */
__attribute__((format(printf, 2, 3))) static const char *
say(talk_t *t, const char *format, ...)
{
    char line[LINE];
    va_list args;

    va_start(args, format);
    vsnprintf(line, LINE, format, args);
    va_end(args);
    t->line[0] = 0;
    if (store_space_send(t->fd, line))
        read_reply(t);
    return t->line;
}

static int is(const char *reply, const char *word)
{
    return strcmp(reply, word) == 0;
}

static store_lock_t fail(const talk_t *t)
{
    ask_complain(EXIT_NO, "the store gives no lock: %s",
                 *t->line                 ? t->line
                 : clock_ms() >= t->until ? "it is too slow"
                                          : "the connection has ended");
    return STORE_LOCK_FAILED;
}

static store_lock_t lock(talk_t *t, const char *name)
{
    const char *reply;
    int i;

    for (i = 0; i < TRIES; i++) {
        reply = say(t, "add " KEY " 0 0 0\r\n\r\n", name);
        if (is(reply, "LOCKED"))
            return STORE_LOCK_TAKEN;
        if (!is(reply, "STORED") && !is(reply, "NOT_STORED"))
            return fail(t);
        reply = say(t, "lock " KEY "\r\n", name);
        if (is(reply, "OK"))
            return STORE_LOCK_HELD;
        if (is(reply, "LOCKED"))
            return STORE_LOCK_TAKEN;
        if (!is(reply, "NOT_FOUND"))
            return fail(t);
    }
    return fail(t);
}

/* The value tells people who it was. */
static store_lock_t begin(talk_t *t, const char *name, unsigned every)
{
    char value[LINE / 2] = "";
    const char *reply;

    gethostname(value, sizeof value - 32);
    snprintf(value + strlen(value), 32, " %d %lld", (int)getpid(),
             (long long)time(NULL));
    reply = say(t, "add " KEY ":begun 0 %u %zu\r\n%s\r\n", name, every,
                strlen(value), value);
    return is(reply, "STORED")       ? STORE_LOCK_HELD
           : is(reply, "NOT_STORED") ? STORE_LOCK_RECENT
                                     : fail(t);
}

store_lock_t store_lock_take(const char *dir, const char *space,
                             const char *name, unsigned every, int limit,
                             store_lock_wait_t *wait, int *fd)
{
    talk_t t = {.wait = wait};
    store_lock_t rv;

    if (store_space_connect(dir, space, limit, &t.fd) != EXIT_OK)
        return STORE_LOCK_FAILED;
    t.until = clock_ms() + REPLIES;
    rv = lock(&t, name);
    if (rv == STORE_LOCK_HELD && every > 0)
        rv = begin(&t, name, every);
    if (rv == STORE_LOCK_HELD)
        *fd = t.fd;
    else
        close(t.fd); /* which unlocks it */
    return rv;
}

void store_lock_release(int fd, const char *name, store_lock_wait_t *wait)
{
    talk_t t = {.fd = fd, .wait = wait, .until = clock_ms() + LAST};

    say(&t, "unlock " KEY "\r\n", name);
    close(fd);
}
