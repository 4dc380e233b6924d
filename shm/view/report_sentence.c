/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/view/report_sentence.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/contract.h"
#include "shm/slots/group.h"
#include "shm/view/view.h"

#define HEAD_MAX 8192 /* of a file: the sentence is before the output */

/* @return the value of a line "NAME VALUE" of the head; NULL: it has none */
static char *value_of(char *head, const char *name)
{
    size_t n = strlen(name);
    char *line, *end;

    for (line = head; line; line = end) {
        end = strchr(line, '\n');
        if (!end || strncmp(line, "output\n", 7) == 0)
            return NULL;
        if (strncmp(line, name, n) == 0 && line[n] == ' ')
            return line + n + 1;
        end++;
    }
    return NULL;
}

static int read_head(const char *dir, const char *app, const char *end,
                     char head[HEAD_MAX])
{
    char name[512];
    ssize_t n;
    int fd;

    snprintf(name, sizeof name,
             "%s/" CONTRACT_FAILURES "/" CONTRACT_ID_FMT "%s", dir,
             apl_group_key(app), end);
    fd = open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return 0;
    n = read(fd, head, HEAD_MAX - 1);
    close(fd);
    head[n > 0 ? n : 0] = 0;
    return n > 0;
}

/* @param end of the file's name @param id of the error that is reported
 * @param key of the text in `to` */
static void put(const char *dir, const char *app, const char *end,
                const json_t *id, json_t *to, const char *key)
{
    const char *wanted = json_string_value(id);
    char head[HEAD_MAX], *known, *sentence;

    if (!app || !wanted || !read_head(dir, app, end, head))
        return;
    known = value_of(head, "id");
    sentence = value_of(head, CONTRACT_FAILURE_SENTENCE);
    if (!known || !sentence)
        return;
    known[strcspn(known, "\n")] = 0;
    sentence[strcspn(sentence, "\n")] = 0;
    if (strcmp(known, wanted) == 0)
        json_object_set_new(to, key, apl_report_text(sentence));
}

void apl_report_sentences(json_t *report, const char *dir)
{
    json_t *group, *slow;
    const char *app;
    size_t i;

    json_array_foreach(json_object_get(report, "groups"), i, group)
    {
        app = json_string_value(json_object_get(group, "name"));
        slow = json_object_get(group, "slow_start");
        put(dir, app, "", json_object_get(group, "last_error_id"), group,
            "last_error");
        if (json_is_object(slow))
            put(dir, app, CONTRACT_SLOW_START, json_object_get(slow, "id"),
                slow, "text");
    }
}
