/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* A master notices another one. */

#include "store/cluster/rivals.h"

#include <poll.h>
#include <string.h>
#include <unistd.h>

/* cmocka.h needs these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* The order of these matters. */
#include <cmocka.h>

#include "base/heartbeat.h"
#include "store/cluster/peers.h"
#include "tests/unit/support/notes.h"

#define ROUNDS 16

static store_cluster_t config;
static const store_cluster_hooks_t hooks = {.config = &config};

/* What the other host says in each round: m: it is a master, s: it is not one,
 * and .: nothing. At the end of these words the thread rests. */
static const char *words;
static struct {
    unsigned n; /* atomic */
    int rest[ROUNDS];
} rounds;

void heartbeat(void)
{
}

int __wrap_store_vip_is_here(const store_address_t *);
int __wrap_store_vip_is_here(const store_address_t *address)
{
    (void)address;
    return 0;
}

void __wrap_store_peers_ask(const store_cluster_hooks_t *, int ms, int bell,
                            store_answers_t *);
void __wrap_store_peers_ask(const store_cluster_hooks_t *of, int ms, int bell,
                            store_answers_t *answers)
{
    char word = words[rounds.n];

    assert_ptr_equal(of, &hooks);
    assert_int_equal(ms, 1000);
    assert_true(bell >= 0);
    answers->n = word == '.' ? 0 : 1;
    store_address_parse("10.0.0.2", &answers->answer[0].from);
    answers->answer[0].is_master = word == 'm';
    __atomic_add_fetch(&rounds.n, 1, __ATOMIC_RELEASE);
}

int __real_poll(struct pollfd *, nfds_t, int);
int __wrap_poll(struct pollfd *, nfds_t, int);
int __wrap_poll(struct pollfd *p, nfds_t n, int ms)
{
    rounds.rest[rounds.n] = ms;
    return words[rounds.n] ? 0 : __real_poll(p, n, -1);
}

/* @param rests in s, as "9": before each question */
static void play(const char *answers, const char *rests, unsigned lines)
{
    size_t i, n = strlen(answers);

    notes_clear();
    memset(&rounds, 0, sizeof rounds);
    words = answers;
    store_rivals_begin(&hooks);
    while (__atomic_load_n(&rounds.n, __ATOMIC_ACQUIRE) < n)
        usleep(100);
    store_rivals_end();
    assert_int_equal(rounds.n, n);
    for (i = 0; i < n; i++)
        assert_int_equal(rounds.rest[i], rests[i] == '1' ? 1000 : 10000);
    assert_int_equal(
        notes_count("10.0.0.2 is a master, too: 10.0.0.9 is at both hosts"),
        lines);
    assert_int_equal(notes_count(""), lines);
}

static void without_another_master_nothing_is_said(void **state)
{
    (void)state;
    play("s", "9", 0);
    play("..s.ss", "999999", 0);
}

/* The address was at both hosts while it moved. */
static void one_answer_is_not_enough(void **state)
{
    (void)state;
    play("m", "9", 0);
    play("ms.m.m", "919919", 0);
}

/* Once a minute. */
static void another_master_is_an_error(void **state)
{
    (void)state;
    play("smm", "991", 1);
    play("smmmmsm", "9919999", 1);
}

static void an_end_without_a_begin_is_nothing(void **state)
{
    (void)state;
    store_rivals_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_another_master_nothing_is_said),
        cmocka_unit_test(one_answer_is_not_enough),
        cmocka_unit_test(another_master_is_an_error),
        cmocka_unit_test(an_end_without_a_begin_is_nothing),
    };

    store_address_parse("10.0.0.9", &config.vip);
    alarm(300);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
