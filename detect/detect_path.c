/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "detect/detect_path.h"

#include <ctype.h>
#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "detect/detect_venv.h"
#include "detect/detect_text.h"
#include "detect/detect_versions.h"

#define ALIASES_MAX 4 /* one alias may name another one */

/* ---- node, as nvm has installed it for the user ----
 *
 * `.nvmrc` names the version, or else `.node-version`: as a number ("v20.11.1")
 * or the begin of one ("20"), of which the newest counts; as "node", the newest
 * of all; or as an alias of nvm ("lts/iron"), which is a file in ~/.nvm/alias.
 * All of these files belong to the app's user, and are read with that user's
 * rights. */

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
    char *text = detect_text_read_linked(path);

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

static int find_nvm(const char *home, char place[PATH_MAX])
{
    char word[64], name[NAME_MAX + 1] = "";
    version_t wanted;

    if ((read_word(".nvmrc", word) || read_word(".node-version", word)) &&
        resolve(home, word, &wanted))
        find_installed(home, &wanted, name);
    return *name && snprintf(place, PATH_MAX, "%s/.nvm/versions/node/%s/bin",
                             home, name) < PATH_MAX;
}

/* A virtual environment of Python: what `activate` there would do. */
static void virtual_environment(detect_path_t *found)
{
    const char *name = detect_venv_find();

    if (name) {
        detect_path_before(found, "%s/%s/bin", found->root, name);
        detect_path_set(found, "VIRTUAL_ENV=%s/%s", found->root, name);
    }
}

/* rbenv: its programs read the file, and run the Ruby that it names. */
static void rbenv(detect_path_t *found)
{
    const char *root = found->rbenv ? found->rbenv : found->home;
    const char *shims = found->rbenv ? "shims" : ".rbenv/shims";
    char ruby[PATH_MAX];

    if (access(".ruby-version", R_OK) == 0 && *root == '/' &&
        snprintf(ruby, sizeof ruby, "%s/%s/ruby", root, shims) <
            (int)sizeof ruby &&
        access(ruby, X_OK) == 0)
        detect_path_before(found, "%s/%s", root, shims);
}

/* Programs of packages of node, as npm finds them. */
static void node_modules(detect_path_t *found)
{
    if (access("node_modules/.bin", X_OK) == 0)
        detect_path_before(found, "%s/node_modules/.bin", found->root);
}

static void node_of_nvm(detect_path_t *found)
{
    char place[PATH_MAX];

    if (find_nvm(found->home, place))
        detect_path_before(found, "%s", place);
}

static void put_version(void *ctx, const char *dir)
{
    detect_path_before(ctx, "%s", dir);
}

static void versions(detect_path_t *found)
{
    detect_versions(found->home, put_version, found);
}

/* THE LIST. The directories of the first rule are searched first. */
static void (*const rules[])(detect_path_t *found) = {
    virtual_environment, rbenv, node_modules, node_of_nvm, versions};

void detect_path_before(detect_path_t *found, const char *format, ...)
{
    char dir[PATH_MAX];
    size_t n = strlen(found->path) - strlen(DETECT_PATH_STANDARD);
    va_list args;
    int length;

    va_start(args, format);
    length = vsnprintf(dir, sizeof dir, format, args);
    va_end(args);
    if (length < 0 || (size_t)length >= sizeof dir || strchr(dir, ':'))
        return;
    if (n + (size_t)length + sizeof ":" DETECT_PATH_STANDARD <= PATH_MAX)
        stpcpy(stpcpy(found->path + n, dir), ":" DETECT_PATH_STANDARD);
}

void detect_path_set(detect_path_t *found, const char *format, ...)
{
    va_list args;
    size_t n = 0;

    while (found->variables[n])
        n++;
    if (n == DETECT_PATH_VARIABLES)
        return;
    va_start(args, format);
    if (vasprintf(&found->variables[n], format, args) < 0)
        found->variables[n] = NULL;
    va_end(args);
}

void detect_path(const char *home, const char *rbenv_root, detect_path_t *found)
{
    size_t i;

    memset(found, 0, sizeof *found);
    found->home = home;
    found->rbenv = rbenv_root;
    memcpy(found->path, DETECT_PATH_STANDARD, sizeof DETECT_PATH_STANDARD);
    if (!getcwd(found->root, sizeof found->root))
        return;
    for (i = 0; i < sizeof rules / sizeof *rules; i++)
        rules[i](found);
}

void detect_path_free(detect_path_t *found)
{
    size_t i;

    for (i = 0; i < DETECT_PATH_VARIABLES; i++) {
        free(found->variables[i]);
        found->variables[i] = NULL;
    }
}
