/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "tests/unit/support/notes.h"

/* clang-format off: cmocka needs these before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define LIMIT 40000 /* looks, one a ms: the clock may be the test's own */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char lines[1 << 16];

void __wrap_store_note(int level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Each line ends with a newline. Without room, a line is left out. */
void __wrap_store_note(int level, const char *format, ...)
{
    char line[1024];
    va_list args;

    (void)level;
    va_start(args, format);
    vsnprintf(line, sizeof line - 1, format, args);
    va_end(args);
    strcat(line, "\n");
    pthread_mutex_lock(&lock);
    if (strlen(lines) + strlen(line) < sizeof lines)
        strcat(lines, line);
    pthread_mutex_unlock(&lock);
}

/* Under the lock. */
static unsigned count(const char *words)
{
    const char *line = lines, *found;
    unsigned n = 0;

    while (*line && (found = strstr(line, words))) {
        line = strchr(found, '\n') + 1;
        n++;
    }
    return n;
}

unsigned notes_count(const char *words)
{
    unsigned n;

    pthread_mutex_lock(&lock);
    n = count(words);
    pthread_mutex_unlock(&lock);
    return n;
}

void notes_expect(const char *words)
{
    static char all[sizeof lines];
    unsigned n;

    pthread_mutex_lock(&lock);
    n = count(words);
    memcpy(all, lines, sizeof all);
    lines[0] = '\0';
    pthread_mutex_unlock(&lock);
    if (n == 0)
        fail_msg("no line has \"%s\": %s", words, all);
}

void notes_wait(const char *words)
{
    int i;

    for (i = 0; i < LIMIT && notes_count(words) == 0; i++)
        poll(NULL, 0, 1);
    notes_expect(words);
}

void notes_clear(void)
{
    pthread_mutex_lock(&lock);
    lines[0] = '\0';
    pthread_mutex_unlock(&lock);
}
