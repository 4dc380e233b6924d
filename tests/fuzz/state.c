/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "tests/fuzz/state.h"

#include <apr_general.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "system/log.h"
#include "spawner/process/process.h"

static spawner_t spawner;
static char dir[200];
static int error_log = -1;

spawner_t *state_spawner(void)
{
    return &spawner;
}

/* The code under test reads the registry, which does not exist here. */
int process_record(process_t *p, uint32_t state)
{
    p->is.state = state;
    return 0;
}

static void make_all(void)
{
    const char *where = getenv("TMPDIR");
    char path[40];

    apr_initialize();
    apr_pool_create(&spawner.pool, NULL);
    error_log = memfd_create("log", MFD_CLOEXEC);
    snprintf(path, sizeof path, "/proc/self/fd/%d", error_log);
    snprintf(dir, sizeof dir, "%s/state-XXXXXX", where ? where : "/tmp");
    spawner.rt.dir = mkdtemp(dir);
    spawner.rt.fd =
        spawner.rt.dir ? open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (error_log < 0 || spawner.rt.fd < 0 ||
        symlinkat(path, spawner.rt.fd, CONTRACT_ERRORLOG) != 0)
        abort();
    log_directory(spawner.rt.fd);
}

spawner_t *state_begin(void)
{
    if (!spawner.pool)
        make_all();
    spawner.now = spawner.wake = 1000000000;
    return &spawner;
}

const char *state_log(void)
{
    static char text[1 << 20];
    ssize_t n = pread(error_log, text, sizeof text - 1, 0);

    if (ftruncate(error_log, 0) != 0)
        abort();
    text[n > 0 ? n : 0] = 0;
    return text;
}
