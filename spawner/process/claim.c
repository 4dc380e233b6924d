/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/process/claim.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/heartbeat.h"
#include "system/cgroup.h"
#include "system/log.h"
#include "system/procfs.h"
#include "spawner/process/socket_owner.h"

#define REGISTRY_TRIES 200 /* of 10 ms: for the last spawner to end */
#define DOOMED_TRIES   50  /* and if it was sent SIGKILL */

void claim_recall(const runtime_dir_t *rt, char instance[17])
{
    int fd =
        openat(rt->fd, CONTRACT_INSTANCE, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, instance, 16) : 0;

    instance[n > 0 ? n : 0] = 0;
    if (fd >= 0)
        close(fd);
    if (strspn(instance, "0123456789abcdef") != 16)
        instance[0] = 0;
}

/* Take the registry from a spawner that survives SIGKILL. @return 0, -1 */
static int replace_registry(const spawner_t *s)
{
    pid_t owner = registry_owner();

    if (owner <= 0 || !procfs_is_killed(owner) || registry_copy(s->rt.fd) != 0)
        return -1;
    log_line(LOG_WARN,
             "spawner %d survives SIGKILL and never runs again: its registry "
             "is taken over",
             (int)owner);
    return 0;
}

/* Was the watchdog killed since it started us, while httpd lives? Then another
 * watchdog starts another spawner. */
static int is_orphan(void)
{
    struct pollfd httpd = {CONTRACT_PARENT_FD, POLLIN, 0};
    procfs_t parent;

    return poll(&httpd, 1, 0) == 0 && procfs_read(getppid(), &parent) == 0 &&
           strncmp(parent.name, CONTRACT_WATCHDOG_PROGRAM,
                   sizeof parent.name - 1) != 0;
}

/* An orphan is not needed, so it is no error that it cannot begin. */
static void log_taken(const spawner_t *s)
{
    if (is_orphan())
        log_line(LOG_INFO,
                 "spawner %d ends: its watchdog is gone, and another spawner "
                 "uses %s/%s",
                 (int)getpid(), s->rt.dir, CONTRACT_REGISTRY);
    else
        log_line(LOG_ERROR, "%s/%s cannot be used: another spawner uses it",
                 s->rt.dir, CONTRACT_REGISTRY);
}

/* Only one spawner at a time writes the registry. */
static int open_registry(const spawner_t *s)
{
    int i;

    for (i = 0; registry_open(s->rt.fd) != 0; i++) {
        int why = errno, taken = why == EAGAIN || why == EACCES;

        if (taken && i >= DOOMED_TRIES && replace_registry(s) == 0)
            return 0;
        if (taken && i < REGISTRY_TRIES) {
            poll(NULL, 0, 10);
            continue;
        }
        if (taken)
            log_taken(s);
        else
            log_line(LOG_ERROR, "%s/%s cannot be used: %s", s->rt.dir,
                     CONTRACT_REGISTRY, strerror(why));
        return -1;
    }
    return 0;
}

/* The watchdog finds us by this file. */
static int sign(const spawner_t *s)
{
    char text[64];
    procfs_t self;

    if (procfs_read(getpid(), &self) != 0)
        return -1;
    snprintf(text, sizeof text, "%d %llu\n", (int)getpid(),
             (unsigned long long)self.start);
    return process_files_write(&s->rt, CONTRACT_SPAWNER, text);
}

int claim_instance(spawner_t *s)
{
    char text[512];

    if (open_registry(s) != 0)
        return -1;
    /* Not before: the file of a spawner that works would be gone. */
    heartbeat_begin(s->rt.fd, CONTRACT_SPAWNER_HEARTBEAT);
    if (sign(s) != 0 || process_files_prepare(&s->rt) != 0 ||
        process_files_write(&s->rt, CONTRACT_INSTANCE, s->instance) != 0) {
        log_line(LOG_ERROR, "%s cannot be set up: %s", s->rt.dir,
                 strerror(errno));
        return -1;
    }
    socket_owner_learn(&s->rt);
    if (!s->instance[0])
        return 0;
    if (cgroup_open(s->instance, text, sizeof text) == 0)
        log_line(LOG_INFO,
                 "processes that apps start are found by cgroup, in %s", text);
    else
        log_line(LOG_INFO,
                 "processes that apps start are found by session and "
                 "environment: %s",
                 text);
    return 0;
}
