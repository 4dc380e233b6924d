/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file lines.c
 * @brief How many cache lines of the segment a request touches, and whether
 *        those of many groups spread over the sets of a cache. They are counted
 *        access by access. So the figures do not depend on other work of the
 *        machine or on the size of its caches.
 *
 * The segment may not be accessed. Each access faults: the handler notes the
 * line, opens the page for this one instruction and lets the processor stop
 * after it.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "tests/bench/pool.h"

#ifdef __x86_64__

#define LINE      64
#define PAGE      4096
#define SETS      (PAGE / LINE) /* of a first-level cache: address within a page */
#define REQUESTS  192   /* each of another group, if there are as many */
#define TRAP_FLAG 0x100 /* the processor stops after one instruction */
#define OPENED    4     /* pages that one instruction may need */

static bench_pool_t *watched;
static unsigned char *seen; /* of each line: in this request, at any time */
static char *opened[OPENED];
static int n_opened, touched;

enum { NOW = 1, EVER = 2 };

static void note(size_t line)
{
    touched += !(seen[line] & NOW);
    seen[line] |= NOW | EVER;
}

static void on_access(int sign, siginfo_t *info, void *context)
{
    ucontext_t *u = context;
    size_t at = (size_t)((char *)info->si_addr - (char *)watched->pool.base);
    char *page = (char *)watched->pool.base + at / PAGE * PAGE;

    if (at >= watched->size || n_opened == OPENED) {
        signal(sign, SIG_DFL);
        return;
    }
    note(at / LINE);
    opened[n_opened++] = page;
    mprotect(page, PAGE, PROT_READ | PROT_WRITE);
    u->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
}

static void on_step(int sign, siginfo_t *info, void *context)
{
    ucontext_t *u = context;

    (void)sign;
    (void)info;
    while (n_opened > 0)
        mprotect(opened[--n_opened], PAGE, PROT_NONE);
    u->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
}

static void handle(int sign, void (*handler)(int, siginfo_t *, void *))
{
    struct sigaction act;

    memset(&act, 0, sizeof act);
    act.sa_sigaction = handler;
    act.sa_flags = SA_SIGINFO;
    sigaction(sign, &act, NULL);
}

static void request(bench_pool_t *b, int i)
{
    const apl_app_t *app = &b->apps[i % b->n_apps];
    apl_session_ref_t hold;

    if (apl_checkout(&b->pool, &hold, app, NULL, NULL, i) != APR_SUCCESS)
        abort();
    apl_checkin(&b->pool, &hold, i);
}

/* Lines in the fullest set, against the mean of all sets. */
static double unevenness(size_t lines)
{
    unsigned sets[SETS] = {0}, most = 0, all = 0;
    size_t i;

    for (i = 0; i < lines; i++)
        if (seen[i] & EVER) {
            all++;
            if (++sets[i % SETS] > most)
                most = sets[i % SETS];
        }
    return (double)most * SETS / all;
}

/* @return lines that a request touches */
static double watch(int groups, double *uneven)
{
    bench_pool_t b;
    size_t i, lines;
    int n;

    bench_pool_make(&b, groups, groups);
    for (n = 0; n < 2 * groups; n++) /* for what is looked up once */
        request(&b, n);
    lines = b.size / LINE + 1;
    seen = calloc(lines, 1);
    watched = &b;
    touched = 0;
    mprotect(b.pool.base, b.size, PROT_NONE);
    for (n = 0; n < REQUESTS; n++) {
        request(&b, n);
        for (i = 0; i < lines; i++)
            seen[i] &= (unsigned char)~NOW;
    }
    mprotect(b.pool.base, b.size, PROT_READ | PROT_WRITE);
    *uneven = unevenness(lines);
    free(seen);
    bench_pool_free(&b);
    return (double)touched / REQUESTS;
}

int main(void)
{
    double uneven, few, many;
    int bad;

    handle(SIGSEGV, on_access);
    handle(SIGTRAP, on_step);
    few = watch(10, &uneven);
    many = watch(1000, &uneven);
    bad = bench_verdict("checkout + checkin", few, "cache lines", 28, 1);
    bad += bench_verdict("1000 groups, against 10", many / few, "x", 1.1, 1);
    bad += bench_verdict("fullest set of a cache, against the mean", uneven,
                         "x", 1.3, 1);
    return bad != 0;
}

#else

int main(void)
{
    printf("# accesses are counted on x86-64 only\n");
    return 0;
}

#endif
