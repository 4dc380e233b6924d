/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/start/start.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "spawner/process/approot_owner.h"
#include "spawner/output/output.h"
#include "base/env_name.h"

#define BLANK " \t"

/* ---- lines ---- */

/* The parser of one line, without its newline. Each function returns NULL, or a
 * text that says what is wrong. */
typedef struct {
    char *at; /* the part that is not read yet */
    char *name, *value;
} line_t;

static char *skip(char *s)
{
    return s + strspn(s, BLANK);
}

/* Only blanks up to the end. */
static const char *end_of(const char *s)
{
    return s[strspn(s, BLANK)] == 0 ? NULL
                                    : "there is text after the closing quote";
}

static const char *read_single(line_t *l)
{
    char *end = strchr(l->at + 1, '\'');

    if (!end)
        return "the quote that begins the value has no other on its line";
    l->value = l->at + 1;
    *end = 0;
    return end_of(end + 1);
}

/* In double quotes, a backslash removes the special meaning of the next
 * character, if that is one of these. */
static const char *read_double(line_t *l)
{
    char *from = l->at + 1, *to = from;

    l->value = to;
    for (; *from && *from != '"'; from++) {
        if (*from == '\\' && from[1] && strchr("\"\\$`", from[1]))
            from++;
        *to++ = *from;
    }
    if (!*from)
        return "the quote that begins the value has no other on its line";
    *to = 0;
    return end_of(from + 1);
}

static const char *read_plain(line_t *l)
{
    size_t n = strlen(l->at), i;

    while (n > 0 && strchr(BLANK, l->at[n - 1]))
        n--;
    l->value = l->at;
    l->at[n] = 0;
    for (i = 0; i < n; i++)
        if (strchr("'\"\\", l->at[i]) ||
            (l->at[i] == '#' && i > 0 && strchr(BLANK, l->at[i - 1])))
            return "a value with quotes, a backslash, or # after a blank has "
                   "to stand in quotes";
    return NULL;
}

static const char *read_value(line_t *l)
{
    l->at = skip(l->at);
    return *l->at == '\''  ? read_single(l)
           : *l->at == '"' ? read_double(l)
                           : read_plain(l);
}

static const char *read_name(line_t *l)
{
    const char *wrong;
    char *end;

    if (strncmp(l->at, "export", 6) == 0 && l->at[6] && strchr(BLANK, l->at[6]))
        l->at = skip(l->at + 6);
    end = strchr(l->at, '=');
    if (!end)
        return "there is no = in it";
    l->name = l->at;
    wrong = env_name_refused(l->name, (size_t)(end - l->name));
    *end = 0;
    l->at = end + 1;
    return wrong;
}

/* name NULL: the line sets nothing. */
static const char *read_line(line_t *l, size_t length)
{
    size_t i;

    l->name = NULL;
    for (i = 0; i < length; i++)
        if ((unsigned char)l->at[i] < 0x20 && l->at[i] != '\t')
            return "there is a control character in it";
    l->at = skip(l->at);
    if (!*l->at || *l->at == '#' || *l->at == ';')
        return NULL;
    return read_name(l);
}

/* ---- the text ---- */

static size_t lines_of(const char *text, size_t length)
{
    size_t i, n = 1;

    for (i = 0; i < length; i++)
        n += text[i] == '\n';
    return n;
}

static int complain(char error[ENV_FILE_ERROR_MAX], const char *path, int line,
                    const line_t *l, const char *wrong)
{
    /* A name is not secret. But the text before = may not be a name, so it is
     * checked before it is logged. */
    if (l->name && env_name_refused(l->name, strlen(l->name)) == NULL)
        snprintf(error, ENV_FILE_ERROR_MAX, "AppEnvFile %s: line %d, %s: %s",
                 path, line, l->name, wrong);
    else if (l->name)
        snprintf(error, ENV_FILE_ERROR_MAX,
                 "AppEnvFile %s: line %d: the text before the = %s", path, line,
                 wrong);
    else
        snprintf(error, ENV_FILE_ERROR_MAX, "AppEnvFile %s: line %d: %s", path,
                 line, wrong);
    return 0;
}

/* @return 0: `error` says why */
static int add_line(char **entry, const char *path, int number, char *text,
                    size_t length, char error[ENV_FILE_ERROR_MAX])
{
    line_t l = {.at = text};
    const char *wrong;

    if (length > 0 && text[length - 1] == '\r')
        text[--length] = 0;
    wrong = read_line(&l, length);
    if (!wrong && l.name)
        wrong = read_value(&l);
    if (wrong)
        return complain(error, path, number, &l, wrong);
    *entry = NULL;
    if (l.name && asprintf(entry, "%s=%s", l.name, l.value) < 0)
        return complain(error, path, number, &l, "out of memory");
    return 1;
}

char **env_file_parse(const char *path, char *text, size_t length,
                      char error[ENV_FILE_ERROR_MAX])
{
    char **list = calloc(lines_of(text, length) + 1, sizeof *list);
    char *at = text, *end;
    size_t n = 0;
    int number;

    for (number = 1; list && at <= text + length; number++, at = end + 1) {
        end = memchr(at, '\n', (size_t)(text + length - at));
        if (!end)
            end = text + length;
        *end = 0;
        if (!add_line(&list[n], path, number, at, (size_t)(end - at), error)) {
            free(list);
            return NULL;
        }
        n += list[n] != NULL;
    }
    return list;
}

/* ---- the file ---- */

static char *refuse(char error[ENV_FILE_ERROR_MAX], const char *path,
                    const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static char *refuse(char error[ENV_FILE_ERROR_MAX], const char *path,
                    const char *format, ...)
{
    int n = snprintf(error, ENV_FILE_ERROR_MAX, "AppEnvFile %.300s ", path);
    va_list args;

    va_start(args, format);
    vsnprintf(error + n, ENV_FILE_ERROR_MAX - (size_t)n, format, args);
    va_end(args);
    return NULL;
}

/* @return 1: the file may be used */
static int is_good(const char *path, const struct stat *st,
                   const privilege_t *account, int as_root,
                   char error[ENV_FILE_ERROR_MAX])
{
    if (!S_ISREG(st->st_mode) || st->st_size > ENV_FILE_MAX)
        refuse(error, path, "is not a plain file of at most %d bytes",
               ENV_FILE_MAX);
    else if (st->st_uid != 0 && st->st_uid != account->uid)
        refuse(error, path,
               "belongs to user %u: it has to belong to root or to user %s",
               (unsigned)st->st_uid, account->name);
    else if (as_root && st->st_uid != 0)
        refuse(error, path, "may not be read by its own user, %s",
               account->name);
    else if (st->st_mode & 022)
        refuse(error, path,
               "may be written by others than its owner (mode %03o): chmod "
               "go-w",
               (unsigned)st->st_mode & 0777);
    else if (geteuid() == 0 &&
             !approot_owner_holds(path, as_root ? 0 : account->uid, st))
        refuse(error, path,
               "is in a directory where others than root%s%s may put another "
               "file, or on "
               "a FUSE file system",
               as_root ? "" : " and user ", as_root ? "" : account->name);
    else
        return 1;
    return 0;
}

static char *explain(const char *path, const privilege_t *account, int as_root,
                     char error[ENV_FILE_ERROR_MAX])
{
    if (as_root && errno == ELOOP)
        return refuse(error, path,
                      "cannot be read by user %s, and root reads it only if "
                      "there is no symbolic link in its path",
                      account->name);
    if (as_root && errno == EPERM)
        return refuse(error, path,
                      "cannot be read by user %s, and root reads it only if it "
                      "is a plain file with one name",
                      account->name);
    return refuse(error, path, "cannot be opened: %s", strerror(errno));
}

char *env_file_read(const char *path, const privilege_t *account,
                    size_t *length, char error[ENV_FILE_ERROR_MAX])
{
    struct stat st;
    int as_root,
        fd = open_as(path, O_RDONLY, 0, account->uid, account->gid, &as_root);
    char *text;
    ssize_t n;

    if (fd < 0)
        return explain(path, account, as_root, error);
    if (fstat(fd, &st) != 0 || !is_good(path, &st, account, as_root, error)) {
        close(fd);
        return NULL;
    }
    text = malloc(ENV_FILE_MAX + 1);
    n = text ? read(fd, text, ENV_FILE_MAX) : -1;
    close(fd);
    if (n < 0)
        return refuse(error, path, "cannot be read: %s", strerror(errno));
    *length = (size_t)n;
    return text;
}
