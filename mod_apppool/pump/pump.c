/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/pump/pump.h"

#include <apr_thread_mutex.h>
#include <apr_thread_proc.h>
#include <errno.h>
#include <httpd.h>
#include <mpm_common.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "shm/lock/lock_token.h"

#define AT_ONCE 64  /* events */
#define TICK    250 /* ms between two looks at all clocks */

static struct {
    apr_thread_mutex_t *mutex; /* NULL: there is no pump */
    apr_thread_t *thread;
    int poll, kick;         /* descriptors */
    uint32_t max, reserved; /* links */
    apppool_link_t *links;
    apppool_link_t *ready, **last_ready; /* to be stepped soon */
    apppool_link_t *dead;                /* to be freed */
    int64_t leave_at;                    /* us of apl_now(); 0: it does not */
    int is_alone;                        /* no worker comes any more */
    int is_ending;
} pump;

static void lock(void)
{
    apr_thread_mutex_lock(pump.mutex);
}

static void unlock(void)
{
    apr_thread_mutex_unlock(pump.mutex);
}

static void kick(int fd)
{
    const uint64_t one = 1;

    while (write(fd, &one, sizeof one) < 0 && errno == EINTR)
        ;
}

/* ---- the mutex is held ---- */

static void make_ready(apppool_link_t *link)
{
    if (link->is_ready)
        return;
    link->is_ready = 1;
    link->next_ready = NULL;
    *pump.last_ready = link;
    pump.last_ready = &link->next_ready;
}

static void unmake_ready(apppool_link_t *link)
{
    apppool_link_t **at = &pump.ready;

    if (!link->is_ready)
        return;
    while (*at != link)
        at = &(*at)->next_ready;
    *at = link->next_ready;
    if (pump.last_ready == &link->next_ready)
        pump.last_ready = at;
    link->is_ready = 0;
}

static void give_back(apppool_link_t *link, apppool_link_why_t why)
{
    link->is_given = 0;
    link->why = why;
    if (!pump.is_alone)
        kick(link->wake);
}

static void step(apppool_link_t *link)
{
    int stops = pump.leave_at != 0;

    if (!link->is_given)
        return;
    link->is_told |= stops;
    switch (link->step(link, stops)) {
    case APPPOOL_STEP_AGAIN:
        make_ready(link);
        break;
    case APPPOOL_STEP_ENDS:
        give_back(link, stops ? APPPOOL_LINK_STOPPED : APPPOOL_LINK_ENDED);
        break;
    default:
        break;
    }
}

static void look_at_clock(apppool_link_t *link, int64_t now)
{
    if (!link->is_given)
        return;
    /* One that a worker has given since then is ready, and is told soon. */
    if (link->is_told && now >= pump.leave_at + APPPOOL_PUMP_FAREWELL)
        give_back(link, APPPOOL_LINK_STOPPED);
    else if (link->silence >= 0 && now - link->moved >= link->silence)
        give_back(link, APPPOOL_LINK_SILENT);
    else if (now >= link->renew_at) {
        link->renew_at = now + link->renewal;
        kick(link->wake);
    }
}

/* ---- the thread ---- */

static void see_event(const struct epoll_event *event)
{
    apppool_link_t *link = (apppool_link_t *)(event->data.u64 & ~1ULL);
    uint64_t kicks;

    if (!link) {
        while (read(pump.kick, &kicks, sizeof kicks) < 0 && errno == EINTR)
            ;
        return;
    }
    lock();
    if (!link->is_dead) {
        if (event->data.u64 & 1)
            link->app_seen |= event->events;
        else
            link->client_seen |= event->events;
        step(link);
    }
    unlock();
}

static apppool_link_t *take_ready(void)
{
    apppool_link_t *link = pump.ready;

    if (link)
        unmake_ready(link);
    return link;
}

/* Each of those that are ready now, once. */
static void step_ready(void)
{
    apppool_link_t *link;
    int n = 0;

    lock();
    for (link = pump.ready; link; link = link->next_ready)
        n++;
    unlock();
    for (; n > 0; n--) {
        lock();
        link = take_ready();
        if (link)
            step(link);
        unlock();
    }
}

static void look_at_clocks(int64_t now)
{
    apppool_link_t *link;

    lock();
    for (link = pump.links; link; link = link->next)
        look_at_clock(link, now);
    unlock();
}

/* No event names them any more: the events of the last turn were seen, and they
 * have left the epoll before. @return 0: the thread is to end */
static int begin_turn(int *ms)
{
    apppool_link_t *link;
    int goes_on;

    lock();
    while ((link = pump.dead) != NULL) {
        pump.dead = link->next;
        free(link);
    }
    *ms = pump.ready ? 0 : pump.links ? TICK : -1;
    goes_on = !pump.is_ending;
    unlock();
    return goes_on;
}

static void *APR_THREAD_FUNC run(apr_thread_t *thread, void *data)
{
    struct epoll_event events[AT_ONCE];
    int64_t looked = 0, now;
    int i, n, ms;

    (void)data;
    while (begin_turn(&ms)) {
        n = epoll_wait(pump.poll, events, AT_ONCE, ms);
        for (i = 0; i < n; i++)
            see_event(&events[i]);
        step_ready();
        now = apl_now();
        if (now - looked >= TICK * 1000) {
            looked = now;
            look_at_clocks(now);
        }
    }
    apr_thread_exit(thread, APR_SUCCESS);
    return NULL;
}

/* ---- for the workers ---- */

static int watch(int fd, uint32_t events, uint64_t what)
{
    struct epoll_event event = {.events = events, .data.u64 = what};

    return epoll_ctl(pump.poll, EPOLL_CTL_ADD, fd, &event);
}

apr_status_t apppool_pump_begin(apr_pool_t *pchild, uint32_t max)
{
    apr_status_t rv;

    pump.poll = epoll_create1(EPOLL_CLOEXEC);
    pump.kick = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (pump.poll < 0 || pump.kick < 0 || watch(pump.kick, EPOLLIN, 0) != 0)
        return errno;
    pump.last_ready = &pump.ready;
    pump.max = max;
    rv = apr_thread_mutex_create(&pump.mutex, APR_THREAD_MUTEX_DEFAULT, pchild);
    if (rv == APR_SUCCESS)
        rv = ap_thread_create(&pump.thread, NULL, run, NULL, pchild);
    if (rv != APR_SUCCESS)
        pump.mutex = NULL;
    return rv;
}

int apppool_pump_reserve(void)
{
    int is_there = 0;

    if (!pump.mutex)
        return 0;
    lock();
    if (pump.reserved < pump.max) {
        pump.reserved++;
        is_there = 1;
    }
    unlock();
    return is_there;
}

uint32_t apppool_pump_full(void)
{
    uint32_t n = 0;

    if (!pump.mutex)
        return 0;
    lock();
    if (pump.reserved >= pump.max && pump.leave_at == 0)
        n = pump.max;
    unlock();
    return n;
}

void apppool_pump_unreserve(void)
{
    if (!pump.mutex) /* httpd -X destroys requests after that */
        return;
    lock();
    pump.reserved--;
    unlock();
}

void apppool_pump_give_up(void)
{
    lock();
    pump.max = 0;
    unlock();
}

/* The sockets tell only what is new. So each step goes on until it would have
 * to wait. */
apppool_link_t *apppool_pump_add(const apppool_link_t *set)
{
    const uint32_t all = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
    apppool_link_t *link = malloc(sizeof *link);
    int error;

    if (!link)
        return NULL;
    *link = *set;
    link->moved = apl_now();
    link->renew_at = link->moved + link->renewal;
    lock();
    link->next = pump.links;
    link->at = &pump.links;
    if (link->next)
        link->next->at = &link->next;
    pump.links = link;
    unlock();
    if (watch(link->client, all, (uintptr_t)link) == 0 &&
        watch(link->app, all, (uintptr_t)link | 1) == 0)
        return link;
    error = errno;
    apppool_pump_remove(link);
    errno = error;
    return NULL;
}

void apppool_pump_give(apppool_link_t *link)
{
    lock();
    link->is_given = 1;
    link->why = APPPOOL_LINK_RENEWED;
    make_ready(link);
    unlock();
    kick(pump.kick);
}

void apppool_pump_take(apppool_link_t *link)
{
    uint64_t kicks;

    lock();
    link->is_given = 0;
    unlock();
    while (read(link->wake, &kicks, sizeof kicks) < 0 && errno == EINTR)
        ;
}

apppool_step_t apppool_pump_step(apppool_link_t *link, int stops)
{
    apppool_step_t said;

    lock();
    said = link->step(link, stops);
    unlock();
    return said;
}

void apppool_pump_remove(apppool_link_t *link)
{
    epoll_ctl(pump.poll, EPOLL_CTL_DEL, link->client, NULL);
    epoll_ctl(pump.poll, EPOLL_CTL_DEL, link->app, NULL);
    lock();
    unmake_ready(link);
    *link->at = link->next;
    if (link->next)
        link->next->at = link->at;
    link->is_given = 0;
    link->is_dead = 1;
    link->next = pump.dead;
    pump.dead = link;
    unlock();
}

void apppool_pump_leave(int has_workers)
{
    apppool_link_t *link;

    if (!pump.mutex)
        return;
    lock();
    if (pump.leave_at == 0)
        pump.leave_at = apl_now();
    pump.is_alone |= !has_workers;
    for (link = pump.links; link; link = link->next)
        make_ready(link);
    unlock();
    kick(pump.kick);
}

int apppool_pump_has_left(void)
{
    int has_left;

    lock();
    has_left = pump.leave_at != 0;
    unlock();
    return has_left;
}

void apppool_pump_end(void (*end)(apppool_link_t *link))
{
    apr_status_t rv;

    if (!pump.mutex)
        return;
    lock();
    pump.is_ending = 1;
    unlock();
    kick(pump.kick);
    apr_thread_join(&rv, pump.thread);
    while (pump.links)
        end(pump.links);
    pump.mutex = NULL;
}
