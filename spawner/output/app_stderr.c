/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include <stdio.h>
#include <string.h>

#include "shm/verbs/app_stderr.h"
#include "system/log.h"
#include "spawner/output/output.h"
#include "spawner/process/process.h"

/* A child that writes all the time must not keep the loop here, nor make it
 * turn without a rest. */
#define MOST  APL_STDERR_MAX /* in one turn */
#define PAUSE (SECOND / 100) /* after as many */

/* Its lines often say why it has died.
 * @return how many were not written, because there are too many */
static size_t log_gone(const apl_stderr_t *lines)
{
    static log_kind_t kind;
    const char *text = lines->text, *last = text + lines->size, *end;

    for (; (end = memchr(text, '\n', (size_t)(last - text))) != NULL;
         text = end + 1) {
        char line[APL_STDERR_TEXT + 64];

        snprintf(line, sizeof line, "process that is gone (%llu)> %.*s",
                 (unsigned long long)lines->id, (int)(end - text), text);
        if (!log_text_of(&kind, LOG_ERROR, line))
            return log_count(end + 1, (size_t)(last - end - 1));
    }
    return 0;
}

void app_stderr_take(spawner_t *s)
{
    static apl_stderr_t lines;
    static int64_t resume;
    size_t lost = 0;
    unsigned i;

    if (s->now < resume) {
        state_wake(s, resume);
        return;
    }
    for (i = 0; i < MOST; i++) {
        process_t *p;

        if (apl_app_stderr_take(&s->shm, &lines, s->now) != APR_SUCCESS)
            break;
        p = process_find(s, lines.id);
        if (p && !p->done)
            output_add(p, lines.text, lines.size, lines.logged != 0);
        else if (!lines.logged && log_has(LOG_ERROR))
            lost += log_gone(&lines);
    }
    if (i == MOST) {
        resume = s->now + PAUSE;
        state_wake(s, resume);
    }
    if (lost > 0)
        log_line(
            LOG_NOTICE,
            "too many errors of apps: %zu more lines of processes that are "
            "gone were dropped",
            lost);
}
