/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/server/admin_socket.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock_ms.h"
#include "base/contract.h"
#include "store/note.h"
#include "store/server/store_listener.h"
#include "store/server/main_loop.h"

static struct {
    int listener;
    uid_t owner;
    int64_t refused_at; /* ms: when that was logged; 0: never */
    char path[CONTRACT_RUNTIME_MAX + 32];
    const store_admin_request_t *requests;
} admin = {.listener = -1};

/* @return NULL: there is none */
static const store_admin_request_t *find(const char *text, size_t n)
{
    const store_admin_request_t *r;

    for (r = admin.requests; r->line; r++)
        if (n == strlen(r->line) && memcmp(text, r->line, n) == 0)
            return r;
    return NULL;
}

static void respond(int fd, const char *request, size_t n)
{
    const store_admin_request_t *r = find(request, n);
    char response[256];
    const char *why = r ? r->act() : "the store knows no such request";

    if (why)
        snprintf(response, sizeof response, "ERROR %s\n", why);
    else
        snprintf(response, sizeof response, "OK\n");
    if (send(fd, response, strlen(response), MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
        /* The log has it, too. */
    }
}

static void on_request(void *ctx)
{
    int fd = (int)(intptr_t)ctx;
    char request[32];
    ssize_t n = recv(fd, request, sizeof request, MSG_DONTWAIT);

    if (n < 0 && errno == EAGAIN)
        return;
    store_loop_unwatch(fd);
    if (n > 0)
        respond(fd, request, (size_t)n);
    close(fd);
}

static void note_refusal(uid_t uid)
{
    if (store_note_is_due(&admin.refused_at, clock_ms()))
        store_note(STORE_WARN, "user %lu may not administer the store",
                   (unsigned long)uid);
}

static void on_listener(void *ctx)
{
    uid_t uid = 0;
    int fd = store_listener_accept(admin.listener, &uid);

    (void)ctx;
    if (fd < 0) {
        store_loop_shortage(admin.listener);
        return;
    }
    if (uid != 0 && uid != admin.owner)
        note_refusal(uid);
    else if (store_loop_watch(fd, on_request, (void *)(intptr_t)fd) == 0)
        return;
    close(fd);
}

int store_admin_begin(const char *directory,
                      const store_admin_request_t *requests)
{
    struct stat st;

    snprintf(admin.path, sizeof admin.path, "%s/..", directory);
    if (stat(admin.path, &st) != 0)
        return -1;
    admin.owner = st.st_uid;
    admin.requests = requests;
    snprintf(admin.path, sizeof admin.path, "%s/%s", directory,
             strrchr(CONTRACT_STORE_ADMIN, '/') + 1);
    admin.listener = store_listener_make(admin.path);
    if (admin.listener < 0)
        return -1;
    return store_loop_watch(admin.listener, on_listener, NULL);
}

void store_admin_end(void)
{
    if (admin.listener < 0)
        return;
    store_loop_unwatch(admin.listener);
    close(admin.listener);
    unlink(admin.path);
    admin.listener = -1;
}
