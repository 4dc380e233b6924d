/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "detect/detect_text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <linux/openat2.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TEXT_MAX 65536
#define NAMES    256 /* of one directory that match: no more are looked at */
#define ALL      1048576 /* bytes of names of one directory: the same */

/* Links of the app that stay below its directory are followed. */
static int open_text(int dir, const char *path)
{
    const struct open_how how = {.flags = O_RDONLY | O_NONBLOCK | O_CLOEXEC,
                                 .resolve =
                                     RESOLVE_NO_MAGICLINKS | RESOLVE_BENEATH};

    return (int)syscall(SYS_openat2, dir, path, &how, sizeof how);
}

int detect_text_exists(int dir, const char *path)
{
    struct stat st;

    return fstatat(dir, path, &st, 0) == 0 && S_ISREG(st.st_mode);
}

int detect_text_is_closed(int dir, const char *path, char why[DETECT_WHY])
{
    int fd = open_text(dir, path);

    if (fd < 0)
        snprintf(why, DETECT_WHY, "%s%s",
                 errno == EXDEV
                     ? "is a link that leads out of AppRoot, and is not read"
                     : "cannot be read: ",
                 errno == EXDEV ? "" : strerror(errno));
    else
        close(fd);
    return fd < 0;
}

/* @param fd closed afterwards; -1: there is none */
static char *read_regular(int fd)
{
    char *text = NULL;
    struct stat st;
    ssize_t n;

    if (fd < 0)
        return NULL;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        text = malloc(TEXT_MAX + 1);
    if (text) {
        n = read(fd, text, TEXT_MAX);
        text[n > 0 ? n : 0] = 0;
    }
    close(fd);
    return text;
}

char *detect_text_read(int dir, const char *path)
{
    return read_regular(open_text(dir, path));
}

char *detect_text_read_linked(const char *path)
{
    int fd = -1, found = open(path, O_PATH | O_CLOEXEC);
    char again[32];
    struct stat st;

    /* A device must not even be opened: that alone may do something. */
    snprintf(again, sizeof again, "/proc/self/fd/%d", found);
    if (found >= 0 && fstat(found, &st) == 0 && S_ISREG(st.st_mode))
        fd = open(again, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (found >= 0)
        close(found);
    return read_regular(fd);
}

const char *detect_text_find(const char *text, const char *pattern,
                             char word[DETECT_PATH_MAX])
{
    regmatch_t match[2] = {{-1, -1}, {-1, -1}};
    regex_t regex;
    int found;

    if (regcomp(&regex, pattern, REG_EXTENDED | REG_NEWLINE) != 0)
        return NULL;
    found = regexec(&regex, text, 2, match, 0) == 0;
    regfree(&regex);
    if (found && word)
        snprintf(word, DETECT_PATH_MAX, "%.*s",
                 match[1].rm_so < 0 ? 0
                                    : (int)(match[1].rm_eo - match[1].rm_so),
                 match[1].rm_so < 0 ? "" : text + match[1].rm_so);
    return found ? text + match[0].rm_so : NULL;
}

const char *detect_text_last(const char *text, const char *pattern,
                             char word[DETECT_PATH_MAX])
{
    const char *last = NULL, *found;

    while (text && (found = detect_text_find(text, pattern, word)) != NULL) {
        last = found;
        text = strchr(found, '\n');
        if (text)
            text++;
    }
    return last;
}

int detect_text_matches(const char *text, const char *pattern)
{
    regex_t regex;
    int found;

    if (regcomp(&regex, pattern, REG_EXTENDED | REG_NEWLINE | REG_NOSUB) != 0)
        return 0;
    found = regexec(&regex, text, 0, NULL, 0) == 0;
    regfree(&regex);
    return found;
}

int detect_text_has(int dir, const char *path, const char *pattern)
{
    char *text = detect_text_read(dir, path);
    int found = text && detect_text_matches(text, pattern);

    free(text);
    return found;
}

/* ---- names ---- */

/* @param left how many more bytes of names are looked at; 0 afterwards: there
 *             may be entries that nobody has seen
 * @return NULL: there are no more */
static const struct dirent *next_of(DIR *files, size_t *left)
{
    const struct dirent *entry = readdir(files);
    size_t n = entry ? strlen(entry->d_name) + 1 : 0;

    if (n > *left)
        entry = NULL;
    *left -= n > *left ? *left : n;
    return entry;
}

char *detect_text_names(int dir)
{
    int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *files = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *entry;
    char *names = NULL;
    size_t size, left = ALL;
    FILE *to;

    if (!files) {
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    to = open_memstream(&names, &size);
    while (to && (entry = next_of(files, &left)) != NULL)
        fprintf(to, "/%s", entry->d_name);
    if (to) {
        putc('/', to);
        fclose(to);
    }
    closedir(files);
    if (left == 0) {
        free(names);
        names = NULL;
    }
    return names;
}

/* A `*` stands at the beginning or at the end of the first name of a
 * pattern. */
int detect_text_may_exist(const char *names, const char *pattern)
{
    char name[DETECT_PATH_MAX + 2];
    size_t n = strcspn(pattern, "/");

    if (!names || strncmp(pattern, "*", n) == 0)
        return 1;
    snprintf(name, sizeof name, "/%.*s/", (int)n, pattern);
    return strstr(names, *pattern == '*' ? name + 2 : name) != NULL;
}

typedef struct {
    int dir;
    char (*paths)[DETECT_PATH_MAX];
    size_t n, places;
} list_t;

static void walk(list_t *list, const char *before, const char *pattern);

static int by_name(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* The names in a directory that match the first name of the pattern.
 * @param is_above names of directories are wanted */
static size_t names_like(int dir, const char *path, const char *pattern,
                         int is_above, char (*names)[DETECT_PATH_MAX])
{
    int fd =
        openat(dir, *path ? path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *files = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *entry;
    size_t n = 0, left = ALL;

    if (!files) {
        if (fd >= 0)
            close(fd);
        return 0;
    }
    while (n < NAMES && (entry = next_of(files, &left)) != NULL)
        if (strlen(entry->d_name) < DETECT_PATH_MAX &&
            !(is_above && entry->d_type == DT_REG) &&
            fnmatch(pattern, entry->d_name, FNM_PERIOD) == 0)
            snprintf(names[n++], DETECT_PATH_MAX, "%s", entry->d_name);
    closedir(files);
    qsort(names, n, sizeof *names, by_name);
    return n;
}

/* One name is chosen: look for the rest of the pattern below it. */
static void step(list_t *list, const char *before, const char *name,
                 const char *rest)
{
    char path[DETECT_PATH_MAX];

    if (snprintf(path, sizeof path, "%s%s%s", before, *before ? "/" : "",
                 name) >= (int)sizeof path)
        return;
    if (rest)
        walk(list, path, rest);
    else if (detect_text_exists(list->dir, path)) {
        if (list->n < list->places)
            memcpy(list->paths[list->n], path, sizeof path);
        list->n++;
    }
}

static void walk(list_t *list, const char *before, const char *pattern)
{
    char name[DETECT_PATH_MAX], (*names)[DETECT_PATH_MAX];
    size_t i, n = strcspn(pattern, "/");
    const char *rest = pattern[n] ? pattern + n + 1 : NULL;

    snprintf(name, sizeof name, "%.*s", (int)n, pattern);
    if (!strchr(name, '*')) {
        step(list, before, name, rest);
        return;
    }
    names = malloc(NAMES * sizeof *names);
    n = names ? names_like(list->dir, before, name, rest != NULL, names) : 0;
    for (i = 0; i < n; i++)
        step(list, before, names[i], rest);
    free(names);
}

size_t detect_text_list(int dir, const char *pattern,
                        char (*paths)[DETECT_PATH_MAX], size_t places)
{
    list_t list = {dir, paths, 0, places};

    /* Nearly all rules have one name. */
    if (strchr(pattern, '*'))
        walk(&list, "", pattern);
    else if (detect_text_exists(dir, pattern)) {
        if (places > 0)
            snprintf(paths[0], DETECT_PATH_MAX, "%s", pattern);
        list.n = 1;
    }
    return list.n;
}
