/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "ctl/doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/contract.h"
#include "ctl/ask_server.h"

#define WORDS_MAX 256 /* of a command line, and of an environment */
#define LIMIT     120 /* s, for httpd -t */

/* ---- the parent process of httpd ---- */

static pid_t parent_of(pid_t pid)
{
    char path[64], line[512], *end;
    int parent = 0;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    file = fopen(path, "re");
    if (file && fgets(line, sizeof line, file) &&
        (end = strrchr(line, ')')) != NULL)
        sscanf(end, ") %*c %d", &parent);
    if (file)
        fclose(file);
    return parent;
}

/* Is it a process of our user, and of nobody else? */
static int is_ours(pid_t pid)
{
    unsigned real, effective, saved;
    char path[64], line[256];
    FILE *file;
    int ours = 0;

    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    file = fopen(path, "re");
    while (file && !ours && fgets(line, sizeof line, file))
        ours = sscanf(line, "Uid: %u %u %u", &real, &effective, &saved) == 3 &&
               real == geteuid() && effective == real && saved == real;
    if (file)
        fclose(file);
    return ours;
}

/* Is it an httpd with our module? Only its user and root may know. */
static int has_module(pid_t pid)
{
    char path[64], line[PATH_MAX + 128];
    FILE *file;
    int has = 0;

    if (pid <= 1 || !is_ours(pid))
        return 0;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    file = fopen(path, "re");
    while (file && !has && fgets(line, sizeof line, file))
        has = strstr(line, "mod_apppool") != NULL;
    if (file)
        fclose(file);
    return has;
}

/* The process that has locked this file. */
static pid_t locker_of(const char *path)
{
    FILE *file = fopen("/proc/locks", "re");
    char line[256];
    struct stat st;
    pid_t found = 0;

    if (!file)
        return 0;
    while (stat(path, &st) == 0 && !found && fgets(line, sizeof line, file)) {
        unsigned long long inode;
        int pid;

        if (sscanf(line, "%*d: FLOCK %*s %*s %d %*x:%*x:%llu", &pid, &inode) ==
                2 &&
            inode == st.st_ino)
            found = pid;
    }
    fclose(file);
    return found;
}

pid_t httpd_test_parent(const char *dir, pid_t spawner)
{
    pid_t pid = spawner > 0 ? parent_of(parent_of(spawner)) : 0;
    char lock[PATH_MAX];

    if (has_module(pid))
        return pid;
    snprintf(lock, sizeof lock, "%s/" CONTRACT_LOCK, dir);
    pid = locker_of(lock);
    return has_module(pid) ? pid : 0;
}

/* ---- its command ---- */

typedef struct {
    char program[PATH_MAX]; /* "": it is not known */
    char text[PATH_MAX];    /* the command line, for people */
    char *words[WORDS_MAX + 1];
    char *environment[WORDS_MAX + 1];
    char directory[PATH_MAX];
} command_t;

/* Texts that end with 0, as /proc has them. @return how many */
static int read_words(pid_t pid, const char *name, char *to[WORDS_MAX + 1])
{
    char path[64], *text = NULL;
    size_t size = 0;
    FILE *file;
    int n = 0;

    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    file = fopen(path, "re");
    while (file && n < WORDS_MAX && getdelim(&text, &size, 0, file) > 0)
        to[n++] = strdup(text);
    free(text);
    if (file)
        fclose(file);
    to[n] = NULL;
    return n;
}

static int read_link(pid_t pid, const char *name, char to[PATH_MAX])
{
    static const char deleted[] = " (deleted)";
    char path[64];
    ssize_t n;

    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    n = readlink(path, to, PATH_MAX - 1);
    to[n > 0 ? n : 0] = 0;
    /* An upgrade has put another program there: that one is meant. */
    if (n > (ssize_t)strlen(deleted) &&
        strcmp(to + n - strlen(deleted), deleted) == 0)
        to[n - (ssize_t)strlen(deleted)] = 0;
    return n > 0;
}

/* "-k start", "-kstart" and "-X" say what httpd is to do. All other words say
 * which configuration it has. */
static void without_orders(char **words)
{
    char **to = words + 1, **from = words + 1;

    while (words[0] && *from) {
        if (strcmp(*from, "-k") == 0 && from[1])
            from += 2;
        else if (strncmp(*from, "-k", 2) == 0 || strcmp(*from, "-X") == 0)
            from++;
        else
            *to++ = *from++;
    }
    *to = NULL;
}

/* As the running httpd was started. */
static int command_of(pid_t pid, command_t *c)
{
    int n = read_words(pid, "cmdline", c->words);

    if (n == 0 || n == WORDS_MAX || !read_link(pid, "exe", c->program))
        return 0;
    read_words(pid, "environ", c->environment);
    read_link(pid, "cwd", c->directory);
    without_orders(c->words);
    return 1;
}

/* As the distribution starts it: apache2ctl of Debian knows
 * /etc/apache2/envvars. */
static int command_found(command_t *c)
{
    static const char *const names[] = {"apache2ctl", "apachectl", "httpd",
                                        "apache2"};
    static const char *const places[] = {"/usr/sbin", "/usr/local/sbin",
                                         "/usr/local/apache2/bin", "/usr/bin"};
    size_t n, p;

    for (n = 0; n < sizeof names / sizeof *names; n++)
        for (p = 0; p < sizeof places / sizeof *places; p++) {
            snprintf(c->program, sizeof c->program, "%s/%s", places[p],
                     names[n]);
            if (access(c->program, X_OK) == 0) {
                c->words[0] = strdup(c->program);
                return 1;
            }
        }
    c->program[0] = 0;
    return 0;
}

/* A command of the administrator. */
static void command_given(const char *given, command_t *c)
{
    char *line;

    if (asprintf(&line, "exec %s -t", given) < 0)
        return;
    snprintf(c->program, sizeof c->program, "/bin/sh");
    c->words[0] = strdup("sh");
    c->words[1] = strdup("-c");
    c->words[2] = line;
    snprintf(c->text, sizeof c->text, "%s -t", given);
}

static void add_test(command_t *c)
{
    size_t n = 0, used;

    while (n < WORDS_MAX && c->words[n])
        n++;
    /* Behind the end are words that without_orders() has moved. */
    if (n < WORDS_MAX) {
        c->words[n] = strdup("-t");
        c->words[n + 1] = NULL;
    }
    used = (size_t)snprintf(c->text, sizeof c->text, "%s", c->program);
    for (n = 1; c->words[n] && used < sizeof c->text; n++)
        used += (size_t)snprintf(c->text + used, sizeof c->text - used, " %s",
                                 c->words[n]);
}

/* ---- httpd -t ---- */

static void become(const command_t *c, int out)
{
    int null = open("/dev/null", O_RDONLY);

    dup2(null, 0);
    dup2(out, 1);
    dup2(out, 2);
    if (c->directory[0] && chdir(c->directory) != 0)
        _exit(126);
    alarm(LIMIT);
    if (c->environment[0])
        execve(c->program, c->words, c->environment);
    else
        execv(c->program, c->words);
    _exit(127);
}

/* The text without what the log puts before it: "[date] [apppool:warn] ..." */
static char *message_of(char *line)
{
    char *ours = strstr(line, "apppool: ");

    line[strcspn(line, "\n")] = 0;
    return ours ? ours : line;
}

/* @return the exit status; -1: it was ended by a signal */
static int run(const command_t *c, json_t *lines)
{
    char *line = NULL;
    size_t size = 0;
    int ends[2], status;
    FILE *in;
    pid_t child;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    fflush(NULL);
    child = fork();
    if (child == 0)
        become(c, ends[1]);
    close(ends[1]);
    in = fdopen(ends[0], "r");
    while (in && getline(&line, &size, in) > 0)
        json_array_append_new(lines, apl_report_text(message_of(line)));
    free(line);
    if (in)
        fclose(in);
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
        return -1;
    return WEXITSTATUS(status);
}

static void free_words(char **words)
{
    while (*words)
        free(*words++);
}

int httpd_test_run(pid_t parent, const char *given, json_t *lines,
                   char text[HTTPD_TEST_TEXT])
{
    command_t *c = calloc(1, sizeof *c);
    int status = HTTPD_TEST_NONE;

    if (!c)
        return status;
    if (given)
        command_given(given, c);
    else if (parent > 0 ? command_of(parent, c) : command_found(c))
        add_test(c);
    snprintf(text, HTTPD_TEST_TEXT, "%s", c->text);
    if (c->text[0])
        status = run(c, lines);
    free_words(c->words);
    free_words(c->environment);
    free(c);
    return status;
}
