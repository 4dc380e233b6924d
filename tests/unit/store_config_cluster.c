/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The part of the store's configuration that is about other hosts and TCP. */

#include "store/server/store_config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <fcntl.h>
#include <unistd.h>

#include <cmocka.h>

#define SPACE                                                                  \
    "{\"name\": \"shop\", \"key\": \"0a1b\", \"size\": 67108864, "             \
    "\"evict\": true, \"max_connections\": 1024, "                             \
    "\"uids\": [33]}"
#define HEAD                                                                   \
    "{\"threads\": 4, \"max_object\": 1048576, "                               \
    "\"spaces\": [" SPACE "]"
#define HEX32  "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1eff"
#define PORTS  "\"ports\": [11211, 11213], "
#define PEERS  "\"peers\": [\"10.0.0.1\", \"fd00::1\"], "
#define PLAIN  "\"plain\": [\"10.0.0.3\"], "
#define SECRET "\"secret\": \"" HEX32 "\", "
#define RING   "\"changes\": 33554432, \"slave_timeout\": 10"
#define TEXT(vip, ports, peers, plain, secret, open, ring)                     \
    HEAD ", \"cluster\": {" vip ports peers plain secret open ring "}"
#define VIP  "\"vip\": \"10.0.0.9\", "
#define OPEN "\"open_space\": \"shop\", "
#define WHOLE                                                                  \
    TEXT(VIP, PORTS, PEERS, PLAIN, SECRET, OPEN, RING)                         \
    ", \"listens\": [{\"address\": \"::1\", \"port\": 11311, "                 \
    "\"space\": \"shop\"}, {\"address\": \"0.0.0.0\", \"port\": 11312, "       \
    "\"space\": \"shop\"}]}"
#define LISTEN(what) HEAD ", \"listens\": [" what "]}"
#define AT(address, port)                                                      \
    "{\"address\": \"" address "\", \"port\": " port ", \"space\": \"shop\"}"

static char error[STORE_CONFIG_ERROR];

static store_config_t *parse(const char *text)
{
    error[0] = 0;
    return store_config_parse(text, strlen(text), error);
}

static void everything_is_read(void **state)
{
    char text[STORE_ADDRESS_TEXT];
    store_config_t *t = parse(WHOLE);
    const store_cluster_t *c;

    (void)state;
    if (!t)
        fail_msg("%s", error);
    c = &t->cluster;
    assert_string_equal(store_address_text(&c->vip, text), "10.0.0.9");
    assert_int_equal(c->port_memcache, 11211);
    assert_int_equal(c->port_repl, 11213);
    assert_int_equal(c->n_peers, 2);
    assert_string_equal(store_address_text(&c->peer[1], text), "fd00::1");
    assert_int_equal(c->n_plain, 1);
    assert_string_equal(store_address_text(&c->plain[0], text), "10.0.0.3");
    assert_int_equal(c->n_secret, 32);
    assert_int_equal(c->secret[1], 1);
    assert_int_equal(c->secret[10], 10);
    assert_int_equal(c->secret[31], 255);
    assert_string_equal(c->open_space, "shop");
    assert_int_equal(c->changes, 33554432);
    assert_int_equal(c->slave_timeout, 10);
    assert_int_equal(t->n_listens, 2);
    assert_string_equal(store_address_text(&t->listen[0].address, text), "::1");
    assert_int_equal(t->listen[1].port, 11312);
    assert_string_equal(t->listen[1].space, "shop");
    store_config_free(t);
}

static void a_store_may_be_alone(void **state)
{
    store_config_t *t = parse(HEAD "}");

    (void)state;
    assert_non_null(t);
    assert_int_equal(t->cluster.vip.family, AF_UNSPEC);
    assert_int_equal(t->cluster.n_secret, 0);
    assert_int_equal(t->n_listens, 0);
    store_config_free(t);
    t = parse(TEXT("", PORTS, "\"peers\": [], ", "\"plain\": [], ", SECRET, "",
                   RING) "}");
    assert_non_null(t);
    assert_int_equal(t->cluster.vip.family, AF_UNSPEC);
    assert_int_equal(t->cluster.n_secret, 32);
    store_config_free(t);
}

static void plain_peers_need_no_secret(void **state)
{
    store_config_t *t =
        parse(TEXT(VIP, PORTS, PEERS,
                   "\"plain\": [\"FD00::0:1\", \"10.0.0.3\", \"10.0.0.1\"], ",
                   "", OPEN, RING) "}");

    (void)state;
    if (!t)
        fail_msg("%s", error);
    assert_int_equal(t->cluster.n_secret, 0);
    assert_int_equal(t->cluster.n_plain, 3);
    store_config_free(t);
}

/* Each document has one mistake, which the sentence names. */
static void a_mistake_refuses_all(void **state)
{
    static const char *const wrong[][2] = {
        {HEAD ", \"cluster\": []}", "\"cluster\" is no object"},
        {TEXT("\"vip\": \"10.0.0\", ", PORTS, PEERS, PLAIN, SECRET, OPEN,
              RING) "}",
         "\"vip\" has something that is no IP address"},
        {TEXT("\"vip\": 9, ", PORTS, PEERS, PLAIN, SECRET, OPEN, RING) "}",
         "\"vip\""},
        {TEXT(VIP, "", PEERS, PLAIN, SECRET, OPEN, RING) "}", "\"ports\""},
        {TEXT(VIP, "\"ports\": [1], ", PEERS, PLAIN, SECRET, OPEN, RING) "}",
         "\"ports\""},
        {TEXT(VIP, "\"ports\": [1, 65536], ", PEERS, PLAIN, SECRET, OPEN,
              RING) "}",
         "\"ports\""},
        {TEXT(VIP, "\"ports\": [2, 2], ", PEERS, PLAIN, SECRET, OPEN, RING) "}",
         "two different ports"},
        {TEXT(VIP, "\"ports\": [1, \"3\"], ", PEERS, PLAIN, SECRET, OPEN,
              RING) "}",
         "\"ports\""},
        {TEXT(VIP, PORTS, "", PLAIN, SECRET, OPEN, RING) "}", "\"peers\""},
        {TEXT(VIP, PORTS, "\"peers\": [], ", PLAIN, SECRET, OPEN, RING) "}",
         "\"peers\" is empty"},
        {TEXT(VIP, PORTS, "\"peers\": [\"host\"], ", PLAIN, SECRET, OPEN,
              RING) "}",
         "\"peers\" has something"},
        {TEXT(VIP, PORTS, PEERS, "\"plain\": \"10.0.0.3\", ", SECRET, OPEN,
              RING) "}",
         "\"plain\" is no list"},
        {TEXT(VIP, PORTS, PEERS, PLAIN, "", OPEN, RING) "}",
         "no \"secret\", so all \"peers\" have to be in \"plain\""},
        {TEXT(VIP, PORTS, PEERS, "\"plain\": [], ", "", OPEN, RING) "}",
         "no \"secret\""},
        {TEXT(VIP, PORTS, PEERS, "\"plain\": [\"fd00::1\"], ", "", OPEN,
              RING) "}",
         "no \"secret\""},
        {TEXT(VIP, PORTS, PEERS, "\"plain\": [\"10.0.0.1\"], ", "", OPEN,
              RING) "}",
         "no \"secret\""},
        {TEXT(VIP, PORTS, PEERS, PLAIN, "\"secret\": \"\", ", OPEN, RING) "}",
         "\"secret\""},
        {TEXT(VIP, PORTS, PEERS, PLAIN, "\"secret\": \"00\", ", OPEN, RING) "}",
         "\"secret\" is no hexadecimal number of 32 to 256 bytes"},
        {TEXT(VIP, PORTS, PEERS, PLAIN, "\"secret\": \"" HEX32 "0\", ", OPEN,
              RING) "}",
         "\"secret\""},
        {TEXT(VIP, PORTS, PEERS, PLAIN, "\"secret\": \"" HEX32 "0g\", ", OPEN,
              RING) "}",
         "\"secret\""},
        {TEXT(VIP, PORTS, PEERS, PLAIN, "\"secret\": 7, ", OPEN, RING) "}",
         "\"secret\""},
        {TEXT(VIP, PORTS, PEERS, PLAIN, SECRET, "\"open_space\": \"other\", ",
              RING) "}",
         "\"open_space\" is no space"},
        {TEXT(VIP, PORTS, PEERS, PLAIN, SECRET, OPEN,
              "\"changes\": 1, \"slave_timeout\": 10") "}",
         "\"changes\""},
        {TEXT(VIP, PORTS, PEERS, PLAIN, SECRET, OPEN,
              "\"changes\": 33554432, \"slave_timeout\": 0") "}",
         "\"slave_timeout\""},
        {HEAD ", \"listens\": {}}", "\"listens\""},
        {LISTEN("7"), "\"address\""},
        {LISTEN(AT("127.0.0", "11211")), "listener for shop: \"address\""},
        {LISTEN(AT("127.0.0.1", "0")), "\"port\" is no number from 1 to 65535"},
        {LISTEN(AT("127.0.0.1", "65536")), "\"port\""},
        {LISTEN("{\"address\": \"127.0.0.1\", \"port\": 11211, \"space\": "
                "\"other\"}"),
         "\"space\" is no space"},
        {LISTEN(AT("10.0.0.1", "11211")), "no \"secret\""},
        {LISTEN(AT("::", "11211")), "no \"secret\""},
        {LISTEN(AT("127.0.0.1", "11211") ", " AT("127.0.0.1", "11211")),
         "twice"},
    };
    size_t i;

    (void)state;
    for (i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_null(parse(wrong[i][0]));
        if (!strstr(error, wrong[i][1]))
            fail_msg("%s: %s", wrong[i][0], error);
    }
}

/* What others can read is no secret. */
static void a_secret_is_private(void **state)
{
    char dir[] = "/tmp/apst-XXXXXX";
    store_config_t *t;
    int dirfd, fd;

    (void)state;
    assert_non_null(mkdtemp(dir));
    dirfd = open(dir, O_RDONLY | O_DIRECTORY);
    fd = openat(dirfd, "table", O_WRONLY | O_CREAT, 0600);
    assert_int_equal(write(fd, WHOLE, strlen(WHOLE)), strlen(WHOLE));
    t = store_config_read(dirfd, "table", error);
    assert_non_null(t);
    store_config_free(t);
    assert_int_equal(fchmod(fd, 0640), 0);
    assert_null(store_config_read(dirfd, "table", error));
    assert_non_null(strstr(error, "mode 640"));
    close(fd);
    unlinkat(dirfd, "table", 0);
    close(dirfd);
    rmdir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_read),
        cmocka_unit_test(a_store_may_be_alone),
        cmocka_unit_test(plain_peers_need_no_secret),
        cmocka_unit_test(a_mistake_refuses_all),
        cmocka_unit_test(a_secret_is_private),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
