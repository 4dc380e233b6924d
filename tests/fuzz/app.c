/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The output of an app: bytes on its standard output, which become lines of the
 * log, and messages to $NOTIFY_SOCKET.
 *
 * Input: a byte whose lowest bit selects one of the two, and what the app
 * writes, in pieces. A piece begins with a byte that is its length. Or it is
 * 255 and a byte that is repeated, for a line that is too long. */

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "spawner/start/start.h"
#include "spawner/output/output.h"
#include "spawner/report/start_reason.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/dice.h"
#include "tests/fuzz/state.h"

static void must(int truth)
{
    if (!truth)
        abort();
}

/* Each line begins as the spawner's lines do. An app cannot begin a line of
 * its own. */
static void is_log(const char *text)
{
    const char *line, *end;

    for (line = text; *line; line = end + 1) {
        end = strchr(line, '\n');
        must(end && line[0] == '[' && end - line < 4 * 8192 + 256);
        must(memmem(line, (size_t)(end - line), " shop[77]> ", 11) ||
             memmem(line, (size_t)(end - line), " shop[77] ", 10));
        for (; line < end; line++)
            must(*line == '\t' ||
                 ((unsigned char)*line >= 0x20 && *line != 127));
    }
}

/* The next piece. @return its length */
static size_t piece(dice_t *d, char *text, size_t size)
{
    size_t n = dice(d, 256), left;

    if (n == 255) {
        memset(text, (int)dice(d, 256), size);
        return size;
    }
    left = (size_t)(d->end - d->at);
    n = n < left ? n : left;
    memcpy(text, d->at, n);
    d->at += n;
    return n;
}

static void speak(process_t *p, dice_t *d)
{
    char text[9000], reason[START_REASON_MAX];
    unsigned kept = (unsigned)dice(d, 4);
    int ends[2];

    must(pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0);
    p->fifo.fd = ends[0];
    if (kept & 1)
        last_lines_keep(&p->output);
    while (d->at < d->end) {
        size_t n = piece(d, text, sizeof text);

        must(write(ends[1], text, n) == (ssize_t)n);
        output_read(p);
        is_log(state_log());
    }
    close(ends[1]);
    output_finish(p);
    must(p->output.tail_length <= 4096 && p->output.tail_lines <= 20);
    if (p->output.tail &&
        start_reason_find(p->output.tail, p->output.tail_length, kept == 3,
                          reason))
        must(*reason && !strpbrk(reason, "\n\33"));
    output_forget(&p->output);
    close(ends[0]);
    is_log(state_log());
}

/* Is one of its lines this word? */
static int says(const char *message, const char *word)
{
    size_t n = strlen(word);

    for (; message; message = strchr(message, '\n')) {
        message += *message == '\n';
        if (strncmp(message, word, n) == 0 &&
            (message[n] == '\n' || message[n] == 0))
            return 1;
        if (!*message)
            return 0;
    }
    return 0;
}

static void notify(process_t *p, dice_t *d)
{
    char text[5000];
    int ends[2], is_ready = 0, stops = 0, i;

    must(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends) == 0);
    p->notify.fd = ends[0];
    for (i = 0; i < 8 && d->at < d->end; i++) {
        size_t n = piece(d, text, sizeof text);

        must(send(ends[1], text, n, 0) == (ssize_t)n);
        text[n < 4096 ? n : 4095] = 0; /* more is not read */
        is_ready |= says(text, "READY=1");
        stops |= says(text, "STOPPING=1");
    }
    sd_notify_read(p, 0);
    must(!p->is.says_ready == !is_ready && !p->is.stops_itself == !stops);
    close(ends[0]);
    close(ends[1]);
    is_log(state_log());
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    process_t p = {.label = "shop", .is = {.pid = 77}};

    dice_t d = {data, data + size};

    state_begin();
    if (dice(&d, 2))
        speak(&p, &d);
    else
        notify(&p, &d);
    return 0;
}
