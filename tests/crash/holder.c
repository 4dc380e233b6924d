/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file holder.c
 * @brief Catches a process of httpd while one of its threads holds the pool
 *        lock: `holder PID STEPS`.
 *
 * A watchpoint of the processor on the lock word stops the thread that takes
 * the lock. That thread is stepped STEPS instructions further, or until just
 * before it gives the lock back. Then all threads are stopped. The thread and
 * its instruction are printed on one line. The process stays stopped until it
 * is killed. Exit status 1 or 2: it could not be caught. If holder has touched
 * it, it is stopped.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shm/format/format.h"

#define THREADS 512
#define LIMIT   10 /* s */
#define TRIES   1000

/* Debug register 7: watch the first one's 4 bytes for writes. */
#define WATCH   (1ul | 1ul << 16 | 3ul << 18)

static pid_t process;
static pid_t threads[THREADS];
static int n_threads;
static uintptr_t where;               /* the lock, in the process */
static const volatile uint32_t *lock; /* the same word, here */

/* Its watchpoints would kill it, so it stays stopped. */
static _Noreturn void give_up(int sign)
{
    if (n_threads > 0)
        kill(process, SIGSTOP);
    _exit(sign ? 2 : 1);
}

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "holder: %s: %s\n", what, strerror(errno));
    give_up(0);
}

/* ---- the segment ---- */

/* Is it in this mapping? @param range its addresses, as in /proc/PID/maps */
static void look_into(const char *range)
{
    char name[128];
    unsigned long base, end;
    size_t at, size = sizeof(apl_header_t) + APL_CACHE_LINE;
    const char *memory;
    int fd;

    if (sscanf(range, "%lx-%lx", &base, &end) != 2 || end - base < size)
        return;
    snprintf(name, sizeof name, "/proc/%d/map_files/%s", (int)process, range);
    fd = open(name, O_RDONLY | O_CLOEXEC);
    memory = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    if (fd < 0 || memory == MAP_FAILED)
        die(name);
    /* The process that made it may reserve a line. */
    for (at = 0; at <= APL_CACHE_LINE; at += APL_CACHE_LINE) {
        const apl_header_t *h = (const void *)(memory + at);

        if (h->magic == APL_MAGIC && h->layout == APL_LAYOUT) {
            lock = &h->lock;
            where = base + at + offsetof(apl_header_t, lock);
        }
    }
}

static void find_segment(void)
{
    char name[64], line[4096], range[64];
    FILE *maps;

    snprintf(name, sizeof name, "/proc/%d/maps", (int)process);
    maps = fopen(name, "re");
    if (!maps)
        die(name);
    while (!lock && fgets(line, sizeof line, maps))
        if (sscanf(line, "%63s", range) == 1 && strstr(line, " rw-s 00000000 "))
            look_into(range);
    fclose(maps);
    if (!lock)
        die("no segment of this build");
}

static int held_by(pid_t tid)
{
    return (*lock & FUTEX_TID_MASK) == (uint32_t)tid;
}

/* ---- threads ---- */

/* @param sign to be delivered now, or 0 */
static void go_on(pid_t tid, int sign)
{
    if (ptrace(PTRACE_CONT, tid, NULL, (void *)(uintptr_t)sign) != 0)
        die("continue");
}

static int wait_for(pid_t tid)
{
    int status;

    if (waitpid(tid, &status, __WALL) != tid || !WIFSTOPPED(status))
        die("a thread ended");
    return status;
}

static void watch(pid_t tid)
{
    if (n_threads == THREADS)
        die("too many threads");
    if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) != 0 ||
        ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) != 0)
        die("attach");
    wait_for(tid);
    if (ptrace(PTRACE_POKEUSER, tid, offsetof(struct user, u_debugreg[0]),
               where) != 0 ||
        ptrace(PTRACE_POKEUSER, tid, offsetof(struct user, u_debugreg[7]),
               WATCH) != 0)
        die("watchpoint");
    threads[n_threads++] = tid;
    go_on(tid, 0);
}

static void watch_all(void)
{
    char name[64];
    const struct dirent *entry;
    DIR *tasks;

    snprintf(name, sizeof name, "/proc/%d/task", (int)process);
    tasks = opendir(name);
    if (!tasks)
        die(name);
    while ((entry = readdir(tasks)) != NULL)
        if (entry->d_name[0] != '.')
            watch((pid_t)atoi(entry->d_name));
    closedir(tasks);
}

static void freeze_others(pid_t holder)
{
    int i;

    for (i = 0; i < n_threads; i++)
        if (threads[i] != holder)
            ptrace(PTRACE_INTERRUPT, threads[i], NULL, NULL);
    for (i = 0; i < n_threads; i++)
        if (threads[i] != holder)
            wait_for(threads[i]);
}

/* ---- the catch ---- */

/* The next thread that has taken the lock. */
static pid_t catch_one(void)
{
    for (;;) {
        int status, sign;
        pid_t tid = waitpid(-1, &status, __WALL);

        if (tid < 0)
            die("no thread is left");
        if (!WIFSTOPPED(status))
            continue;
        if (held_by(tid))
            return tid;
        sign = WSTOPSIG(status);
        go_on(tid, sign == SIGTRAP || status >> 16 != 0 ? 0 : sign);
    }
}

/* @return how many instructions it has run with the lock */
static long step(pid_t tid, long steps)
{
    long n;

    for (n = 0; n < steps && held_by(tid); n++) {
        if (ptrace(PTRACE_SINGLESTEP, tid, NULL, NULL) != 0)
            die("step");
        wait_for(tid);
    }
    return n;
}

int main(int argc, char **argv)
{
    pid_t tid;
    long steps, n;
    int i;

    if (argc != 3) {
        fprintf(stderr, "usage: holder PID STEPS\n");
        return 1;
    }
    process = (pid_t)atoi(argv[1]);
    steps = atol(argv[2]);
    signal(SIGALRM, give_up);
    alarm(LIMIT);
    find_segment();
    watch_all();
    for (i = 0; i < TRIES; i++) {
        tid = catch_one();
        n = step(tid, steps);
        if (held_by(tid))
            break;
        /* It runs n instructions with the lock. So stop at any of them. */
        steps %= n;
        go_on(tid, 0);
    }
    if (i == TRIES)
        die("it never holds the lock");
    freeze_others(tid);
    printf("%d %ld\n", (int)tid, n);
    fflush(stdout);
    alarm(0);
    while (waitpid(-1, &i, __WALL) > 0 || errno == EINTR)
        continue;
    return 0;
}
