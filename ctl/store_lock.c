/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "ctl/store_lock.h"

#include <stdarg.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ctl/ask.h"
#include "ctl/store_space.h"

#define LINE  256
#define KEY   "apppool:once:%s"
#define TRIES 3 /* an item may be evicted before it is locked */

int store_lock_is_name(const char *name)
{
    size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVW"
                            "XYZ0123456789._-");

    return n > 0 && n <= STORE_LOCK_NAME && !name[n];
}

/* Send a command. @param line gets the reply; "": there is none */
__attribute__((format(printf, 3, 4))) static const char *
say(FILE *stream, char line[LINE], const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(line, LINE, format, args);
    va_end(args);
    if (!store_space_send(stream, line) || !fgets(line, LINE, stream))
        line[0] = 0;
    line[strcspn(line, "\r\n")] = 0;
    return line;
}

static int is(const char *reply, const char *word)
{
    return strcmp(reply, word) == 0;
}

static store_lock_t fail(const char *reply)
{
    ask_complain(EXIT_NO, "the store gives no lock: %s",
                 *reply ? reply : "the connection has ended");
    return STORE_LOCK_FAILED;
}

static store_lock_t lock(FILE *stream, const char *name)
{
    char line[LINE];
    const char *reply = "";
    int i;

    for (i = 0; i < TRIES; i++) {
        reply = say(stream, line, "add " KEY " 0 0 0\r\n\r\n", name);
        if (is(reply, "LOCKED"))
            return STORE_LOCK_TAKEN;
        if (!is(reply, "STORED") && !is(reply, "NOT_STORED"))
            return fail(reply);
        reply = say(stream, line, "lock " KEY "\r\n", name);
        if (is(reply, "OK"))
            return STORE_LOCK_HELD;
        if (is(reply, "LOCKED"))
            return STORE_LOCK_TAKEN;
        if (!is(reply, "NOT_FOUND"))
            return fail(reply);
    }
    return fail(reply);
}

/* The value tells people who it was. */
static store_lock_t begin(FILE *stream, const char *name, unsigned every)
{
    char line[LINE], value[LINE / 2] = "";
    const char *reply;

    gethostname(value, sizeof value - 32);
    snprintf(value + strlen(value), 32, " %d %lld", (int)getpid(),
             (long long)time(NULL));
    reply = say(stream, line, "add " KEY ":begun 0 %u %zu\r\n%s\r\n", name,
                every, strlen(value), value);
    return is(reply, "STORED")       ? STORE_LOCK_HELD
           : is(reply, "NOT_STORED") ? STORE_LOCK_RECENT
                                     : fail(reply);
}

store_lock_t store_lock_take(const char *dir, const char *space,
                             const char *name, unsigned every, FILE **stream)
{
    store_lock_t rv;

    if (store_space_connect(dir, space, stream) != EXIT_OK)
        return STORE_LOCK_FAILED;
    rv = lock(*stream, name);
    if (rv == STORE_LOCK_HELD && every > 0)
        rv = begin(*stream, name, every);
    if (rv == STORE_LOCK_HELD)
        return rv;
    fclose(*stream); /* which unlocks it */
    *stream = NULL;
    return rv;
}

/* The reply is awaited, so the lock is free when this process has ended. */
void store_lock_release(FILE *stream, const char *name)
{
    char line[LINE];

    if (!stream)
        return;
    say(stream, line, "unlock " KEY "\r\n", name);
    fclose(stream);
}
