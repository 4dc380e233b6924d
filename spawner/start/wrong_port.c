/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/start/start.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "system/cgroup.h"
#include "base/contract.h"
#include "system/child_reset.h"
#include "system/environ_scan.h"
#include "spawner/output/output.h"
#include "spawner/process/job.h"
#include "spawner/process/process.h"
#include "spawner/process/sid_scan.h"
#include "spawner/process/sock_diag.h"

#define FIRST           SECOND /* from the start to the first look */
#define LIMIT           (2 * SECOND)
#define AT_ONCE         4    /* maximum number of jobs at the same time */
#define SOCKETS_MAX     256  /* of the user that listen */
#define DESCRIPTORS_MAX 4096 /* of all processes of the app */

/* ---- the search: the work of a job, because it takes long ---- */

typedef struct {
    const process_t *p;
    char mark[40]; /* that its processes have */
    uint16_t own;  /* the port that it has to listen on; 0: none */
    sock_diag_port_t of[SOCKETS_MAX];
    int n;
    int left;                      /* descriptors that may still be read */
    uint16_t port[WRONG_PORT_MAX]; /* that were found, each one once */
    int found;
    char address[46]; /* of its own port, where httpd does not reach it; "" */
    procfs_t owner;   /* the process that has the first of them; pid 0: none */
} search_t;

/* httpd connects to 127.0.0.1. */
static int is_reached(const sock_diag_port_t *at)
{
    static const char *const addresses[] = {
        "0.0.0.0", "::", "127.0.0.1", "::ffff:127.0.0.1", "::ffff:0.0.0.0"};
    size_t i;

    for (i = 0; i < sizeof addresses / sizeof *addresses; i++)
        if (strcmp(at->address, addresses[i]) == 0)
            return 1;
    return 0;
}

static void on_tcp(const sock_diag_port_t *at, uint32_t queued, void *ctx)
{
    search_t *search = ctx;

    (void)queued;
    if (at->uid == search->p->is.uid && search->n < SOCKETS_MAX &&
        (at->port != search->own || !is_reached(at)))
        search->of[search->n++] = *at;
}

static void add(search_t *search, const sock_diag_port_t *at)
{
    int i;

    if (at->port == search->own) {
        memcpy(search->address, at->address, sizeof at->address);
        return;
    }
    for (i = 0; i < search->found; i++)
        if (search->port[i] == at->port)
            return;
    if (search->found < WRONG_PORT_MAX)
        search->port[search->found++] = (uint16_t)at->port;
}

/* A descriptor that leads to "socket:[4711]". */
static void note(search_t *search, const char *link, const procfs_t *who)
{
    static const char begin[] = "socket:[";
    unsigned long number;
    int i;

    if (strncmp(link, begin, sizeof begin - 1) != 0)
        return;
    number = strtoul(link + sizeof begin - 1, NULL, 10);
    for (i = 0; i < search->n; i++)
        if (search->of[i].number == number) {
            add(search, &search->of[i]);
            if (search->owner.pid == 0)
                search->owner = *who;
        }
}

static void read_descriptors(const procfs_t *who, void *ctx)
{
    search_t *search = ctx;
    struct dirent *entry;
    char text[64];
    ssize_t n;
    DIR *dir;

    snprintf(text, sizeof text, "/proc/%d/fd", (int)who->pid);
    dir = opendir(text);
    while (dir && search->left-- > 0 && (entry = readdir(dir)) != NULL) {
        n = readlinkat(dirfd(dir), entry->d_name, text, sizeof text - 1);
        text[n > 0 ? n : 0] = 0;
        note(search, text, who);
    }
    if (dir)
        closedir(dir);
}

/* The name is any bytes. */
static void name_owner(const procfs_t *who, char text[PROCESS_OWNER_MAX])
{
    char *c;

    snprintf(text, PROCESS_OWNER_MAX, "process %d, %.15s", (int)who->pid,
             who->name);
    for (c = text; *c; c++)
        if (*c < ' ' || *c > '~')
            *c = '?';
}

/* A process of the same user that has left the session of the app, as a program
 * does that makes a daemon of itself. */
static int is_elsewhere(const procfs_t *info, void *ctx)
{
    const process_t *p = ((const search_t *)ctx)->p;
    uid_t uid;

    return info->session != p->is.pid && info->start >= p->is.start &&
           procfs_uid(info->pid, &uid) == 0 && uid == p->is.uid;
}

static void read_marked(const procfs_t *info, const char *mark, void *ctx)
{
    search_t *search = ctx;

    if (mark && strcmp(mark, search->mark) == 0)
        read_descriptors(info, search);
}

static void name_ports(const search_t *search, wrong_port_t *found)
{
    size_t used = 0;
    int i;

    for (i = 0; i < search->found; i++)
        used += (size_t)snprintf(found->ports + used,
                                 sizeof found->ports - used, "%s%u",
                                 i > 0               ? ", "
                                 : search->found > 1 ? "ports "
                                                     : "port ",
                                 search->port[i]);
    if (*search->address)
        snprintf(found->ports, sizeof found->ports, "port %u of %s",
                 search->own, search->address);
}

void wrong_port_find(const process_t *p, const char *instance,
                     wrong_port_t *found)
{
    search_t search = {.p = p, .left = DESCRIPTORS_MAX};

    if (p->is.wire.listen == APL_LISTEN_TCP)
        search.own = (uint16_t)p->is.wire.port;
    snprintf(search.mark, sizeof search.mark, "%s-" CONTRACT_ID_FMT, instance,
             p->is.id);
    if (sock_diag_tcp(on_tcp, &search) == 0 && search.n > 0) {
        sid_scan_each(p, read_descriptors, &search);
        if (search.owner.pid == 0)
            environ_scan_read(is_elsewhere, read_marked, &search);
    }
    memset(found, 0, sizeof *found);
    name_ports(&search, found);
    if (*found->ports)
        name_owner(&search.owner, found->owner);
}

/* ---- what is said ---- */

int wrong_port_is_known(const process_t *p)
{
    return p->wrong_port.ports != NULL;
}

void wrong_port_forget(process_t *p)
{
    free(p->wrong_port.ports);
    p->wrong_port.ports = NULL;
}

void wrong_port_say(const process_t *p, const char *listens, char *text,
                    size_t size)
{
    char own[40];

    snprintf(own, sizeof own, "127.0.0.1 port %u", p->is.wire.port);
    snprintf(text, size,
             "%s on TCP %s, where httpd does not connect (%s; %s), and did not "
             "accept connections on %s",
             listens, p->wrong_port.ports, p->wrong_port.owner,
             p->is.wire.listen == APL_LISTEN_TCP
                 ? "AppListen is tcp: the place to listen on is $HOST and $PORT"
                 : "with AppListen tcp, the port to listen on is in $PORT",
             p->is.wire.listen == APL_LISTEN_TCP  ? own
             : p->is.wire.listen == APL_LISTEN_FD ? "descriptor 3"
                                                  : "$APPPOOL_SOCKET");
}

/* ---- the job ---- */

typedef struct {
    job_t job;   /* first, so that its address is that of this structure */
    uint64_t id; /* of the process */
} look_t;

static int running; /* jobs */

static void ended(spawner_t *s, job_t *job, const siginfo_t *cause)
{
    const look_t *look = (look_t *)job;
    process_t *p = process_find(s, look->id);
    wrong_port_t found;
    char text[320];

    (void)cause;
    if (p && p->phase == PHASE_BOOTING &&
        job_read(job, &found, sizeof found) == 0) {
        int is_new = !wrong_port_is_known(p);

        wrong_port_forget(p);
        found.ports[sizeof found.ports - 1] = 0;
        found.owner[sizeof found.owner - 1] = 0;
        p->wrong_port.ports = *found.ports ? strdup(found.ports) : NULL;
        snprintf(p->wrong_port.owner, sizeof p->wrong_port.owner, "%s",
                 found.owner);
        if (is_new && wrong_port_is_known(p)) {
            wrong_port_say(p, "listens", text, sizeof text);
            app_log(p, LOG_WARN, "%s yet", text);
        }
    }
    running--;
    free(job);
}

static _Noreturn void work(const spawner_t *s, const process_t *p)
{
    wrong_port_t found;

    child_reset_descriptors(cgroup_descriptor());
    wrong_port_find(p, s->instance, &found);
    _exit(job_report(&found, sizeof found) == 0 ? 0 : 1);
}

void wrong_port_look(spawner_t *s, process_t *p)
{
    look_t *look;

    if (p->wrong_port.look_at == 0)
        p->wrong_port.look_at = p->is.began + FIRST;
    if (s->now < p->wrong_port.look_at || running == AT_ONCE)
        return;
    p->wrong_port.look_at = s->now + 2 * (s->now - p->is.began);
    look = calloc(1, sizeof *look);
    switch (look ? job_fork_reporting(s, &look->job, LIMIT, ended) : -1) {
    case 0:
        work(s, p);
    case -1:
        free(look);
        return;
    }
    look->id = p->is.id;
    running++;
}
