/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/report/reports.h"

#include <dirent.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock_ms.h"
#include "system/log.h"
#include "system/procfs.h"
#include "base/userdb.h"

#define SEEN_MAX  256 /* maximum number of threads that are read */
#define SHOWN_MAX 8   /* maximum number of threads that get a line */
#define PAUSE_MS  200 /* between two readings of the CPU time */
#define NAME(call)                                                             \
    {                                                                          \
        SYS_##call, #call                                                      \
    }

/* ---- names of system calls ---- */

/* System calls that can wait. */
static const struct {
    long number;
    const char *name;
} names[] = {
    NAME(accept),          NAME(accept4),
    NAME(clock_nanosleep), NAME(close),
    NAME(connect),         NAME(copy_file_range),
    NAME(epoll_pwait),     NAME(execve),
    NAME(exit_group),      NAME(fallocate),
    NAME(fcntl),           NAME(fdatasync),
    NAME(flock),           NAME(fsync),
    NAME(ftruncate),       NAME(futex),
    NAME(getdents64),      NAME(getrandom),
    NAME(io_getevents),    NAME(mmap),
    NAME(msgrcv),          NAME(msgsnd),
    NAME(munmap),          NAME(nanosleep),
    NAME(openat),          NAME(ppoll),
    NAME(pread64),         NAME(pselect6),
    NAME(pwrite64),        NAME(read),
    NAME(readv),           NAME(recvfrom),
    NAME(recvmmsg),        NAME(recvmsg),
    NAME(restart_syscall), NAME(rt_sigsuspend),
    NAME(rt_sigtimedwait), NAME(semop),
    NAME(semtimedop),      NAME(sendfile),
    NAME(sendmsg),         NAME(sendto),
    NAME(splice),          NAME(sync),
    NAME(syncfs),          NAME(unlinkat),
    NAME(wait4),           NAME(waitid),
    NAME(write),           NAME(writev),
#ifdef SYS_io_uring_enter
    NAME(io_uring_enter),
#endif
#ifdef SYS_epoll_pwait2
    NAME(epoll_pwait2),
#endif
/* Newer architectures do not have these. */
#ifdef SYS_poll
    NAME(epoll_wait),      NAME(open),
    NAME(pause),           NAME(poll),
    NAME(rename),          NAME(rmdir),
    NAME(select),          NAME(stat),
    NAME(unlink),
#endif
};

const char *process_report_syscall(long number)
{
    size_t i;

    for (i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].number == number)
            return names[i].name;
    return NULL;
}

typedef struct {
    pid_t pid;     /* of its process */
    procfs_t is;   /* the thread; is.pid is its number */
    uint64_t used; /* ticks that it used during the pause */
    int order;     /* order of discovery; -1: the first thread of the leader */
} thread_t;

/* All data of a report. */
typedef struct {
    const process_report_t *asked;
    pid_t leader;
    uint64_t start;
    int processes, n, threads; /* threads: also those not in `of` */
    int64_t memory;
    uint64_t cpu, used; /* ticks of all processes */
    int64_t between;    /* ms, from one reading to the other */
    thread_t of[SEEN_MAX];
} report_t;

/* ---- words ---- */

const char *process_report_doing(char state, const char *syscall,
                                 char text[PROCESS_REPORT_TEXT_MAX])
{
    char *end, in[48] = "";
    long number = strtol(syscall, &end, 10);
    const char *name = NULL;

    if (end != syscall && number >= 0) {
        name = process_report_syscall(number);
        if (name)
            snprintf(in, sizeof in, " in %s", name);
        else
            snprintf(in, sizeof in, " in system call %ld", number);
    }
    else if (end != syscall)
        snprintf(in, sizeof in, " outside of system calls");
    switch (state) {
    case 'R':
        snprintf(text, PROCESS_REPORT_TEXT_MAX, "runs");
        break;
    case 'S':
        if (name && number == SYS_futex)
            snprintf(text, PROCESS_REPORT_TEXT_MAX, "waits for a lock (futex)");
        else
            snprintf(text, PROCESS_REPORT_TEXT_MAX, "sleeps%s", in);
        break;
    case 'D':
        snprintf(text, PROCESS_REPORT_TEXT_MAX, "waits for the kernel%s", in);
        break;
    case 'T':
        snprintf(text, PROCESS_REPORT_TEXT_MAX, "is stopped");
        break;
    case 't':
        snprintf(text, PROCESS_REPORT_TEXT_MAX, "is stopped by a debugger");
        break;
    case 'Z':
    case 'X':
        snprintf(text, PROCESS_REPORT_TEXT_MAX, "is dead");
        break;
    default:
        snprintf(text, PROCESS_REPORT_TEXT_MAX, "is in state %c%s", state, in);
    }
    return text;
}

void process_report_stack(char *stack)
{
    char *from = stack, *to = stack, *line;

    for (line = strsep(&from, "\n"); line; line = strsep(&from, "\n")) {
        const char *frame = strchr(line, ' ');
        size_t n;

        /* a frame is "[<0>] name+0x1/0x2" */
        if (line[0] != '[' || !frame)
            continue;
        n = strlen(++frame);
        if (to != stack) {
            memmove(to, " < ", 3);
            to += 3;
        }
        memmove(to, frame, n);
        to += n;
    }
    *to = 0;
}

/* ---- reading ---- */

/* /proc/PID belongs to the user that the process runs as. It belongs to root if
 * others may not look into the process, for example into a setuid program. */
static int may_see(const report_t *l, pid_t pid)
{
    char path[32];
    struct stat is;

    snprintf(path, sizeof path, "/proc/%d", (int)pid);
    return l->asked->only == USERDB_NOBODY ||
           (stat(path, &is) == 0 && is.st_uid == l->asked->only);
}

static int is_meant(const report_t *l, const procfs_t *info)
{
    return info->session == l->leader && info->start >= l->start &&
           (info->pid != l->leader || info->start == l->start) &&
           info->state != 'Z' && info->state != 'X' && may_see(l, info->pid);
}

static void add_thread(report_t *l, pid_t pid, pid_t id)
{
    thread_t *t = &l->of[l->n];

    l->threads++;
    if (l->n == SEEN_MAX || procfs_thread(pid, id, &t->is) != 0)
        return;
    t->pid = pid;
    t->used = t->is.cpu;
    t->order = id == l->leader ? -1 : l->n;
    l->n++;
}

static void add_process(const procfs_t *info, void *ctx)
{
    report_t *l = ctx;
    char path[32];
    struct dirent *entry;
    DIR *dir;

    if (!is_meant(l, info))
        return;
    l->processes++;
    l->memory += info->memory;
    l->cpu += info->cpu;
    snprintf(path, sizeof path, "/proc/%d/task", (int)info->pid);
    dir = opendir(path);
    while (dir && (entry = readdir(dir)) != NULL)
        if (entry->d_name[0] != '.')
            add_thread(l, info->pid, (pid_t)strtol(entry->d_name, NULL, 10));
    if (dir)
        closedir(dir);
}

static void add_cpu(const procfs_t *info, void *ctx)
{
    report_t *l = ctx;

    if (is_meant(l, info))
        l->used += info->cpu;
}

/* Read the CPU times again, for the time used during the pause. */
static void read_again(report_t *l)
{
    procfs_t is;
    int i;

    for (i = 0; i < l->n; i++) {
        thread_t *t = &l->of[i];
        uint64_t before = t->used;

        t->used = 0;
        if (procfs_thread(t->pid, t->is.pid, &is) != 0 ||
            is.start != t->is.start)
            continue;
        t->used = is.cpu >= before ? is.cpu - before : 0;
        t->is = is;
    }
    procfs_each(add_cpu, l);
    l->used = l->used >= l->cpu ? l->used - l->cpu : 0;
}

/* ---- the lines ---- */

static void write_line(const report_t *l, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void write_line(const report_t *l, const char *format, ...)
{
    char text[LOG_MAX];
    int n = snprintf(text, sizeof text, "%s report: ", l->asked->name);
    va_list args;

    va_start(args, format);
    vsnprintf(text + n, sizeof text - (size_t)n, format, args);
    va_end(args);
    l->asked->write_line(l->asked->ctx, text);
}

/* Of the time between the two readings. On a loaded machine that is more than
 * PAUSE_MS. */
static int percent(const report_t *l, uint64_t ticks)
{
    return (int)(ticks * 100 * 1000 / (uint64_t)l->between /
                 (uint64_t)sysconf(_SC_CLK_TCK));
}

static void write_summary(const report_t *l)
{
    double hertz = (double)sysconf(_SC_CLK_TCK);

    write_line(l,
               "%d process%s, %d thread%s, %.1f MB, CPU %.2f s in "
               "all and %d%% now, %.0f s old",
               l->processes, l->processes == 1 ? "" : "es", l->threads,
               l->threads == 1 ? "" : "s", (double)l->memory / 1048576.0,
               (double)l->cpu / hertz, percent(l, l->used),
               (double)(procfs_now() - l->start) / hertz);
}

static void write_thread(const report_t *l, const thread_t *t)
{
    char path[64], call[160], wchan[64], stack[1400],
        doing[PROCESS_REPORT_TEXT_MAX];
    int is_main = t->is.pid == t->pid;
    procfs_t now;

    snprintf(path, sizeof path, "task/%d/syscall", (int)t->is.pid);
    procfs_text(t->pid, path, call, sizeof call);
    call[strcspn(call, "\n")] = 0;
    snprintf(path, sizeof path, "task/%d/wchan", (int)t->is.pid);
    procfs_text(t->pid, path, wchan, sizeof wchan);
    snprintf(path, sizeof path, "task/%d/stack", (int)t->is.pid);
    stack[0] = 0;
    if (l->asked->only == USERDB_NOBODY)
        procfs_text(t->pid, path, stack, sizeof stack);
    process_report_stack(stack);
    process_report_doing(t->is.state, call, doing);
    if (l->asked->only != USERDB_NOBODY)
        call[0] = wchan[0] = 0; /* they contain addresses */
    /* If the number belongs to another thread by now, what was read is not
     * reported. */
    if (procfs_thread(t->pid, t->is.pid, &now) != 0 || now.start != t->is.start)
        return;
    write_line(l, "%s %d (%s) %s (state %c; CPU %d%% now%s%s%s%s%s%s)",
               is_main ? "process" : "thread", (int)t->is.pid, t->is.name,
               doing, t->is.state, percent(l, t->used),
               wchan[0] > '0' ? "; wchan " : "", wchan[0] > '0' ? wchan : "",
               call[0] ? "; syscall " : "", call,
               stack[0] ? "; kernel stack " : "", stack);
}

/* This line comes last, because the text is in the memory of the process. The
 * read may wait for a process that has that memory locked, or for a slow
 * disk. */
static void write_command(const report_t *l)
{
    char command[256];
    ssize_t i, n = procfs_text(l->leader, "cmdline", command, sizeof command);

    for (i = 0; i + 1 < n; i++)
        if (command[i] == 0)
            command[i] = ' ';
    if (n > 0)
        write_line(l, "command %s", command);
}

/* The first thread of the leader comes first, then threads that do something,
 * then threads that sleep. */
static int compare(const void *a_, const void *b_)
{
    const thread_t *a = a_, *b = b_;
    int asleep = (a->is.state == 'S') - (b->is.state == 'S');

    return a->order < 0   ? -1
           : b->order < 0 ? 1
           : asleep       ? asleep
                          : a->order - b->order;
}

void process_report_write(const process_report_t *asked)
{
    static report_t l;
    static const struct timespec pause = {0, PAUSE_MS * 1000000};
    procfs_t is;
    int64_t first;
    int i;

    l.asked = asked;
    l.leader = asked->leader;
    l.start = asked->start;
    if (procfs_thread(l.leader, l.leader, &is) != 0 || is.start != l.start)
        return;
    first = clock_ms();
    procfs_each(add_process, &l);
    nanosleep(&pause, NULL);
    l.between = clock_ms() - first + 1; /* never 0 */
    read_again(&l);
    write_summary(&l);
    qsort(l.of, (size_t)l.n, sizeof *l.of, compare);
    for (i = 0; i < l.n && i < SHOWN_MAX; i++)
        write_thread(&l, &l.of[i]);
    if (l.threads > i)
        write_line(&l, "and %d threads more", l.threads - i);
    write_command(&l);
}
