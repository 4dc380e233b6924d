/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* A store may be killed after any instruction of what it does with its memory.
 *
 * Each scene is run instruction by instruction. Each new image of the memfd is
 * what a kill at that moment would leave. Another process recovers a copy of
 * it. Then all invariants must hold, and each key must have the value from
 * before or the one from after. When the scene has ended, what it did was
 * acknowledged: then each key must have the value from after. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/memory/chunk.h"
#include "tests/crash/stepper.h"
#include "tests/crash/store_scenes.h"

/* The memory that is watched: the directory's first page and the pages of the
 * space, one behind the other. */
#define HEAD ((size_t)4096)
#define VIEW (HEAD + STORE_SCENE_PAGES * STORE_PAGE)

typedef struct {
    int there;
    uint32_t seed, length;
    int whole; /* its bytes are those of the seed */
} value_t;

typedef struct {
    value_t key[STORE_SCENE_KEYS];
    uint64_t dropped;
    int complete; /* it was filled in to the end */
} outcome_t;

typedef struct {
    const store_scene_t *scene;
    shelf_t shelf, copy;
    char *view, *copied; /* of the memfd of each */
    outcome_t before, after;
    outcome_t *reported; /* shared with the process that recovers */
    struct {
        pid_t pid; /* 0: none */
        int fd;    /* a byte for each image, and one back */
    } other;
    unsigned failures;
} run_t;

static unsigned images, instructions;

static void *view_of(int fd)
{
    char *at = mmap(NULL, VIEW, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (ftruncate(fd, (off_t)(STORE_DIRECTORY + STORE_SPACES * STORE_EXTENT)) !=
            0 ||
        mmap(at, HEAD, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) ==
            MAP_FAILED ||
        mmap(at + HEAD, VIEW - HEAD, PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_FIXED, fd, (off_t)STORE_DIRECTORY) == MAP_FAILED)
        abort();
    return at;
}

/* ---- what a recovery finds ---- */

static void report(shelf_t *shelf, outcome_t *outcome)
{
    unsigned i;

    outcome->dropped = shelf->space->figures->dropped;
    for (i = 0; i < STORE_SCENE_KEYS; i++) {
        store_item_t *item = shelf_take(shelf, store_scene_key(i));
        value_t *value = &outcome->key[i];

        value->there = item != NULL;
        if (!item)
            continue;
        value->seed = item->flags;
        value->length = item->length;
        value->whole = shelf_is(shelf, item, item->flags, item->length);
        store_item_release(shelf->space, item);
    }
}

/* In another process. Afterwards the space can be used. */
static void recover(shelf_t *shelf, outcome_t *outcome)
{
    shelf_start(shelf);
    shelf_check(shelf);
    report(shelf, outcome);
    if (!shelf_set(shelf, "used again", 8, 500, 0) ||
        !shelf_get(shelf, "used again", 8, 500))
        exit(1);
    shelf_check(shelf);
    shelf_close_space(shelf);
    outcome->complete = 1;
}

/* It recovers one image after the other: a process for each of them takes three
 * times as long. If an image ends it, the next image gets a new one. */
static void start_other(run_t *run)
{
    int ends[2];
    char byte;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        abort();
    fflush(stdout);
    run->other.fd = ends[0];
    run->other.pid = fork();
    if (run->other.pid == 0) {
        close(ends[0]);
        while (read(ends[1], &byte, 1) == 1) {
            recover(&run->copy, run->reported);
            if (write(ends[1], &byte, 1) != 1)
                break;
        }
        _exit(0);
    }
    close(ends[1]);
}

static void end_other(run_t *run)
{
    if (run->other.pid == 0)
        return;
    shutdown(run->other.fd, SHUT_RDWR);
    close(run->other.fd);
    waitpid(run->other.pid, NULL, 0);
    run->other.pid = 0;
}

/* What becomes of this image? */
static outcome_t outcome_of(run_t *run, const char *image)
{
    char byte = 0;

    memcpy(run->copied, image, VIEW);
    memset(run->reported, 0, sizeof *run->reported);
    if (run->other.pid == 0)
        start_other(run);
    if (send(run->other.fd, &byte, 1, MSG_NOSIGNAL) != 1 ||
        read(run->other.fd, &byte, 1) != 1) {
        run->reported->complete = 0;
        end_other(run);
    }
    return *run->reported;
}

/* ---- is that right? ---- */

static void complain(run_t *run, unsigned step, const char *what, unsigned key)
{
    if (run->failures++ < 5)
        printf("# %s, instruction %u: %s %u\n", run->scene->name, step, what,
               key);
}

static int same(const value_t *one, const value_t *other)
{
    return one->there == other->there &&
           (!one->there ||
            (one->seed == other->seed && one->length == other->length));
}

/* @param over the scene has ended, so only the value from after is right */
static void judge(run_t *run, const outcome_t *now, unsigned step, int over)
{
    int old = 0, new = 0;
    unsigned i;

    if (!now->complete)
        complain(run, step, "the recovery fails", 0);
    if (now->dropped)
        complain(run, step, "items are dropped", (unsigned)now->dropped);
    for (i = 0; i < STORE_SCENE_KEYS && now->complete; i++) {
        const value_t *was = &run->before.key[i], *is = &run->after.key[i];
        const value_t *value = &now->key[i];

        if (value->there && !value->whole)
            complain(run, step, "another value has key", i);
        if (!same(value, is) && (over || !same(value, was)))
            complain(run, step, "neither old nor new is key", i);
        old |= !same(value, is);
        new |= !same(value, was);
    }
    if (old && new && !run->scene->several)
        complain(run, step, "half is done", 0);
}

static int look(void *ctx, pid_t pid, unsigned step)
{
    run_t *run = ctx;
    outcome_t now = outcome_of(run, run->view);

    (void)pid;
    images++;
    judge(run, &now, step, 0);
    return run->failures > 20;
}

/* ---- a scene ---- */

static void work(void *arg)
{
    run_t *run = arg;

    run->scene->verb(&run->shelf);
}

static void run_through(run_t *run)
{
    pid_t pid = fork();

    if (pid == 0) {
        work(run);
        _exit(0);
    }
    waitpid(pid, NULL, 0);
}

static void step_through(run_t *run)
{
    outcome_t last;
    char *image = malloc(VIEW);
    unsigned steps;
    pid_t pid;

    memcpy(image, run->view, VIEW);
    run->before = outcome_of(run, image);
    run_through(run);
    run->after = outcome_of(run, run->view);
    memcpy(run->view, image, VIEW);
    steps = stepper_run(work, run, run->view, VIEW, look, run, NULL, &pid);
    stepper_kill(pid);
    last = outcome_of(run, run->view);
    judge(run, &last, steps, 1);
    instructions += steps;
    printf("%s - %s: %u instructions\n", run->failures ? "not ok" : "ok",
           run->scene->name, steps);
    free(image);
}

static unsigned play(const store_scene_t *scene)
{
    run_t run = {.scene = scene};

    run.reported = mmap(NULL, sizeof *run.reported, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    shelf_open(&run.copy, STORE_SCENE_PAGES, 1);
    shelf_close_space(&run.copy);
    run.copied = view_of(run.copy.items);
    shelf_open(&run.shelf, STORE_SCENE_PAGES, 1);
    run.view = view_of(run.shelf.items);
    scene->prepare(&run.shelf);
    step_through(&run);
    end_other(&run);
    munmap(run.view, VIEW);
    munmap(run.copied, VIEW);
    munmap(run.reported, sizeof *run.reported);
    shelf_close(&run.shelf);
    close(run.copy.items);
    close(run.copy.figures);
    return run.failures;
}

int main(void)
{
    unsigned i, good = 0, bad = 0;

    for (i = 0; i < n_store_scenes; i++) {
        unsigned failures = play(&store_scenes[i]);

        good += failures == 0;
        bad += failures != 0;
    }
    printf("# %u instructions, %u images\n", instructions, images);
    printf("%u passed, %u failed\n", good, bad);
    return bad != 0;
}
