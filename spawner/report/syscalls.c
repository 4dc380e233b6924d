/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/report/syscalls.h"

#include <stddef.h>
#include <sys/syscall.h>

#define NAME(call)                                                             \
    {                                                                          \
        SYS_##call, #call                                                      \
    }

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

const char *syscalls_name(long number)
{
    size_t i;

    for (i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].number == number)
            return names[i].name;
    return NULL;
}
