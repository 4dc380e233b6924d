/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "tests/crash/stranger.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shm/recovery/recovery.h"
#include "shm/verbs/enter.h"
#include "shm/slots/group.h"
#include "shm/format/segment.h"

#define LATER (SCENE_NOW + 1000000000ll) /* all back-off is over */

/* ---- the process that was killed ---- */

pid_t stranger_enters(const stage_t *stage)
{
    char descriptor[16];
    int status;
    pid_t pid;

    snprintf(descriptor, sizeof descriptor, "%d", stage->pool.file);
    pid = fork();
    if (pid == 0) {
        fcntl(stage->pool.file, F_SETFD, 0);
        execl("/proc/self/exe", "stranger", STRANGER, descriptor, (char *)NULL);
        _exit(127);
    }
    if (pid < 0 || waitpid(pid, &status, WUNTRACED) != pid ||
        !WIFSTOPPED(status))
        return -1;
    return pid;
}

int stranger_goes_on(pid_t pid)
{
    int status;

    kill(pid, SIGCONT);
    return waitpid(pid, &status, 0) == pid && status == 0;
}

/* ---- the stranger ---- */

static void must(int condition, const char *what)
{
    if (condition)
        return;
    printf("# the stranger: %s\n", what);
    exit(1);
}

static void must_be_right(const apl_pool_t *pool)
{
    apl_finding_t finding;

    must(apl_check(pool, &finding), finding.text);
}

static void repair(apl_pool_t *pool)
{
    apl_lock_token_t token;

    must(apl_enter(&token, pool, SCENE_NOW + 9, 2000000) == APR_SUCCESS,
         "no entrance");
    apl_leave(&token);
}

static void bury(apl_pool_t *pool)
{
    uint64_t ids[64];
    apl_child_watch_t watch;
    uint32_t i, n;

    for (i = 1; i < pool->n.children; i++)
        if (apl_child_watch_at(pool, i, &watch) == APR_SUCCESS)
            must(apl_child_watch_gone(pool, &watch, LATER) == APR_SUCCESS,
                 "a child does not go");
    n = apl_reconcile_ids(pool, ids, 64);
    for (i = 0; i < n; i++)
        must(apl_supervise_gone(pool, ids[i], LATER) == APR_SUCCESS,
             "a process does not go");
    must_be_right(pool);
    must(pool->header->count == 0 && pool->header->waiting == 0,
         "something is left");
}

static void be_served(apl_pool_t *pool)
{
    const apl_app_t app = {
        .name = "new",
        .root = "/",
        .key = apl_group_key("new"),
        .options = {
            .config = 9, .concurrency = 1, .global_queue = 1, .max_queue = 10}};
    apl_order_t order;
    apl_session_ref_t hold;

    must(apl_child_register(pool, 9) == APR_SUCCESS, "no slot for a child");
    must(apl_checkout(pool, &hold, &app, NULL, NULL, LATER) == APL_EWAIT,
         "there is a process already");
    while (apl_supervise_next_order(pool, (uint64_t)getpid() << 32, LATER,
                                    &order) == APR_SUCCESS)
        apl_supervise_ready(pool, order.id, LATER);
    must(apl_checkout_poll(pool, &hold, LATER) == APR_SUCCESS, "not served");
    must_be_right(pool);
    apl_checkin(pool, &hold, LATER);
    must_be_right(pool);
}

void stranger_work(const char *descriptor)
{
    apl_pool_t pool;

    must(apl_segment_attach(&pool, atoi(descriptor), &stage_capacity) ==
             APR_SUCCESS,
         "it cannot attach");
    repair(&pool);
    raise(SIGSTOP);
    bury(&pool);
    be_served(&pool);
    exit(0);
}
