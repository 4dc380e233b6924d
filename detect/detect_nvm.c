/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "detect/detect_nvm.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "detect/detect_file.h"

#define ALIASES_MAX 4 /* one alias may name another one */

/* The first `n` of three numbers are known. */
typedef struct {
    int n;
    long part[3];
} version_t;

/* @return 0: it is no version */
static int parse(const char *text, version_t *version)
{
    char *end;

    version->n = 0;
    text += *text == 'v';
    while (version->n < 3 && isdigit((unsigned char)*text)) {
        version->part[version->n++] = strtol(text, &end, 10);
        text = end;
        if (*text != '.')
            break;
        text++;
    }
    return version->n > 0 && *text == 0;
}

/* The first word of a file. @return 0: there is none */
static int read_word(const char *path, char word[64])
{
    char *text = detect_file_content(path);

    *word = 0;
    if (text)
        sscanf(text, "%63s", word);
    free(text);
    return *word != 0;
}

/* @return 0: it is not known which version `word` means */
static int resolve(const char *home, char word[64], version_t *version)
{
    char path[PATH_MAX];
    int i;

    for (i = 0; i < ALIASES_MAX; i++) {
        if (parse(word, version))
            return 1;
        if (strcmp(word, "node") == 0 || strcmp(word, "stable") == 0) {
            version->n = 0; /* any */
            return 1;
        }
        if (snprintf(path, sizeof path, "%s/.nvm/alias/%s", home, word) >=
                (int)sizeof path ||
            !read_word(path, word))
            return 0;
    }
    return 0;
}

static int fits(const version_t *wanted, const version_t *other)
{
    return other->n == 3 && memcmp(wanted->part, other->part,
                                   (size_t)wanted->n * sizeof(long)) == 0;
}

static int is_newer(const version_t *a, const version_t *b)
{
    int i = 0;

    while (i < 2 && a->part[i] == b->part[i])
        i++;
    return a->part[i] > b->part[i];
}

/* Find the newest version that fits.
 * @param name filled in: of its directory; "": there is none */
static void find_installed(const char *home, const version_t *wanted,
                           char name[NAME_MAX + 1])
{
    version_t best = {0, {0, 0, 0}}, other;
    char path[PATH_MAX];
    const struct dirent *entry;
    DIR *dir;

    *name = 0;
    if (snprintf(path, sizeof path, "%s/.nvm/versions/node", home) >=
        (int)sizeof path)
        return;
    dir = opendir(path);
    while (dir && (entry = readdir(dir)) != NULL)
        if (parse(entry->d_name, &other) && fits(wanted, &other) &&
            (!*name || is_newer(&other, &best))) {
            best = other;
            snprintf(name, NAME_MAX + 1, "%s", entry->d_name);
        }
    if (dir)
        closedir(dir);
}

int detect_nvm(const char *home, char place[PATH_MAX])
{
    char word[64], name[NAME_MAX + 1] = "";
    version_t wanted;

    if ((read_word(".nvmrc", word) || read_word(".node-version", word)) &&
        resolve(home, word, &wanted))
        find_installed(home, &wanted, name);
    return *name && snprintf(place, PATH_MAX, "%s/.nvm/versions/node/%s/bin",
                             home, name) < PATH_MAX;
}
