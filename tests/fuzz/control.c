/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The control socket: whatever a client sends, it gets one JSON object, or
 * nothing. Only root may do everything. A user of apps sees only the apps of
 * that user. Any other user sees no app.
 *
 * Input: a byte, and the bytes that are sent. If bit 0 of the byte is set: over
 * the socket, in pieces as long as the upper bits say. If bit 1 is set: as
 * root; otherwise the next two bits select the user. */

#include "spawner/control/control.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "spawner/process/process.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/play.h"
#include "tests/fuzz/state.h"

/* Users: one of the first app, one of the second, one of no app. */
enum { USER = 1001, OTHER, STRANGER };

static void must(int truth)
{
    if (!truth)
        abort();
}

/* Two apps, and three processes. The app table does not know the apps of all
 * of them. */
static void fill(spawner_t *s)
{
    static app_entry_t apps[2];
    static app_table_t table = {.n = 2, .apps = apps};
    static process_t processes[3];
    const uint8_t bytes[] = {0, 0, 0, 1, 3, 0, 1, 1, 0, 1, 3};
    dice_t d = {bytes, bytes + sizeof bytes};
    play_t *p = play_begin();
    int i;

    play(p, &d, 0);
    s->shm = p->pool;
    s->table = &table;
    table.by_name = apr_hash_make(s->pool);
    s->processes = processes;
    for (i = 0; i < 2; i++) {
        apps[i].app = p->apps[i];
        apps[i].app.root = i ? "/of-another" : "/srv/shop";
        apps[i].label = i ? "other-label" : "shop";
        apps[i].uid = i ? OTHER : USER;
        apr_hash_set(table.by_name, apps[i].app.name, APR_HASH_KEY_STRING,
                     &apps[i]);
    }
    for (i = 0; i < 3; i++) {
        memset(&processes[i], 0, sizeof processes[i]);
        processes[i].next = i < 2 ? &processes[i + 1] : NULL;
        processes[i].is.id = i ? p->ids[i] : 0x1122334455660001;
        processes[i].is.pid = 70 + i;
        processes[i].is.uid = USER;
        strcpy(processes[i].is.name, "a");
        strcpy(processes[i].label, "a");
    }
}

/* There is no index of processes here. */
process_t *process_find(const spawner_t *s, uint64_t id)
{
    process_t *p;

    for (p = s->processes; p && p->is.id != id; p = p->next)
        ;
    return p;
}

/* ---- without a child ---- */

static json_t *make_now(spawner_t *s, const status_job_order_t *order)
{
    apr_pool_t *all = s->pool;
    json_t *o;

    apr_pool_create(&s->pool, all);
    o = order->make(s, order);
    apr_pool_destroy(s->pool);
    s->pool = all;
    return o;
}

static status_job_order_t begun;
static status_job_made_t *tell;

int status_job_begin(spawner_t *s, const status_job_order_t *order,
                     status_job_made_t *made)
{
    (void)s;
    begun = *order;
    tell = made;
    return 1;
}

static void finish(spawner_t *s)
{
    json_t *o = begun.make ? make_now(s, &begun) : NULL;
    char *text = o ? json_dumps(o, 0) : NULL;

    if (!begun.make)
        return;
    must(text != NULL);
    begun.make = NULL;
    tell(s, text, strlen(text));
    json_decref(o);
    free(text);
}

/* ---- commands ---- */

static void is_response(const json_t *o)
{
    must(json_is_object(o) && json_object_size(o) > 0);
}

/* The response names nothing of another user's app that was not in the
 * command. */
static void is_own(json_t *o, const char *command,
                   const command_client_t *client)
{
    static const char *const secret[] = {"other-label", "/of-another"};
    char *text = json_dumps(o, 0);
    size_t i;

    must(text != NULL);
    for (i = 0; i < sizeof secret / sizeof *secret; i++)
        must(strstr(command, secret[i]) || !strstr(text, secret[i]));
    free(text);
    must(client->uid == USER || !json_object_get(o, "ok"));
    must(client->uid == USER ||
         json_array_size(json_object_get(o, "groups")) == 0);
}

static void ask(spawner_t *s, const uint8_t *data, size_t size,
                const command_client_t *client)
{
    char line[CONTRACT_COMMAND_MAX], command[CONTRACT_COMMAND_MAX];
    const uint8_t *end = memchr(data, '\n', size);
    size_t n = end ? (size_t)(end - data) : size;
    status_job_order_t order;
    json_t *o;

    if (n > sizeof line - 1)
        n = sizeof line - 1;
    memcpy(line, data, n);
    memcpy(command, data, n);
    command[n] = 0;
    o = command_list_run(s, line, n, client, &order);
    if (order.make)
        o = make_now(s, &order);
    is_response(o);
    if (!client->is_root && !client->is_httpd)
        is_own(o, command, client);
    must(client->is_root || client->uid == USER ||
         (!json_object_get(o, "ok") && !json_object_get(o, "lines")));
    json_decref(o);
}

static command_client_t client_of(uint8_t byte)
{
    static const uid_t uids[] = {33, USER, STRANGER, STRANGER};
    command_client_t client = {.uid = uids[byte >> 2 & 3],
                               .is_httpd = !(byte >> 2 & 3)};

    if (byte & 2)
        client = (command_client_t){.is_root = 1};
    return client;
}

static void turn(void)
{
    loop_wait(0);
    loop_call();
    control_tick(state_spawner());
    finish(state_spawner());
}

/* Read everything until the end, or what is there. @return bytes */
static size_t receive(int fd, char *response, size_t size)
{
    size_t length = 0;
    ssize_t n;

    for (;;) {
        n = recv(fd, response + length, size - length, MSG_DONTWAIT);
        if (n <= 0)
            return length;
        length += (size_t)n;
        turn();
    }
}

static void call(spawner_t *s, const uint8_t *data, size_t size, size_t chunk)
{
    static char response[1 << 20];
    static struct sockaddr_un at = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int newline = size < CONTRACT_COMMAND_MAX && memchr(data, '\n', size);
    json_t *o;

    if (!at.sun_path[0]) {
        must(loop_open() == 0);
        control_begin(s);
        strcpy(at.sun_path, s->rt.dir);
        strcat(at.sun_path, "/" CONTRACT_CONTROL);
    }
    must(fd >= 0 && connect(fd, (struct sockaddr *)&at, sizeof at) == 0);
    turn();
    while (size > 0) {
        size_t n = size < chunk ? size : chunk;

        if (send(fd, data, n, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
            break; /* it has read enough */
        data += n;
        size -= n;
        turn();
    }
    shutdown(fd, SHUT_WR);
    turn();
    size = receive(fd, response, sizeof response);
    must(size > 0 || !newline);
    if (size > 0) {
        o = json_loadb(response, size, 0, NULL);
        is_response(o);
        json_decref(o);
    }
    close(fd);
    turn();
    s->now += 10 * SECOND;
    control_tick(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    spawner_t *s = state_begin();

    if (size == 0)
        return 0;
    fill(s);
    if (data[0] & 1)
        call(s, data + 1, size - 1, 1 + (size_t)(data[0] >> 2) * 8);
    else {
        const command_client_t client = client_of(data[0]);

        ask(s, data + 1, size - 1, &client);
    }
    state_log();
    return 0;
}
