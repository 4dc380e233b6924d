/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/ward.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spawner/cause.h"
#include "spawner/contract.h"
#include "spawner/lastwords.h"
#include "spawner/log.h"
#include "spawner/procfs.h"

int ward_join(ward_t *w, int64_t now)
{
    char text[64];
    unsigned long long begun;
    long pid;
    ssize_t n;
    int fd =
        openat(w->dirfd, CONTRACT_SPAWNER, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0)
        return 0;
    n = read(fd, text, sizeof text - 1);
    close(fd);
    text[n > 0 ? n : 0] = 0;
    if (sscanf(text, "%ld %llu", &pid, &begun) != 2)
        return 0;
    w->pidfd = procfs_pidfd((pid_t)pid, begun);
    if (w->pidfd < 0)
        return 0;
    w->pid = (pid_t)pid;
    w->child = 0;
    w->born = now;
    log_line(LOG_NOTICE, "watchdog joins the running spawner %ld", pid);
    return 1;
}

static _Noreturn void become(ward_t *w, int stop)
{
    char *argv[] = {w->name, (char *)(uintptr_t)w->runtime,
                    stop ? (char *)(uintptr_t)CONTRACT_STOP : NULL, NULL};
    int words = lastwords_open(w->dirfd, CONTRACT_SPAWNER_WORDS);
    char path[32];
    sigset_t mask;

    if (words >= 0)
        dup2(words, STDERR_FILENO);
    /* SIGTERM waits until the spawner looks for it. */
    sigemptyset(&mask);
    sigaddset(&mask, SIGTERM);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    /* By descriptor, but in a way that suits a script as well. */
    snprintf(path, sizeof path, "/proc/self/fd/%d", CONTRACT_PROGRAM_FD);
    execv(path, argv);
    log_line(LOG_ERROR, "%s cannot be executed: %s", w->name, strerror(errno));
    _exit(w->served ? 1 : CONTRACT_EXIT_CONFIG);
}

int ward_start(ward_t *w, int64_t now, int stop)
{
    pid_t pid = fork();

    if (pid == 0)
        become(w, stop);
    if (pid < 0) {
        log_line(LOG_ERROR, "apppool-spawner cannot be started: fork: %s",
                 strerror(errno));
        return -1;
    }
    w->pidfd = pidfd_open(pid, 0);
    w->pid = pid;
    w->child = 1;
    w->born = now;
    return 0;
}

void ward_stop(const ward_t *w)
{
    if (w->pidfd >= 0)
        pidfd_send_signal(w->pidfd, SIGTERM, NULL, 0);
}

int ward_mourn(ward_t *w, int asked)
{
    char cause[CAUSE_MAX], words[LASTWORDS_MAX];
    siginfo_t info;
    int code;

    memset(&info, 0, sizeof info);
    if (w->child)
        waitid(P_PID, (id_t)w->pid, &info, WEXITED);
    close(w->pidfd);
    w->pidfd = -1;
    code = info.si_pid != 0 && info.si_code == CLD_EXITED ? info.si_status : -1;
    if (!asked || code != CONTRACT_EXIT_DONE)
        log_line(asked && !w->child ? LOG_NOTICE : LOG_ERROR,
                 "spawner %d ended: %s%s", (int)w->pid,
                 cause_text(&info, cause),
                 lastwords_read(w->dirfd, CONTRACT_SPAWNER_WORDS, words));
    w->pid = 0;
    w->served |= code != CONTRACT_EXIT_CONFIG;
    return code;
}

int64_t ward_pause(ward_t *w, int64_t now)
{
    int s = throttle_died(&w->throttle, now - w->born);

    if (s > w->waits)
        log_line(LOG_ERROR, "spawner dies again and again: next start in %d s",
                 s);
    w->waits = s;
    return (int64_t)s * 1000;
}
