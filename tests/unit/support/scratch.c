/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "tests/unit/support/scratch.h"

#include <apr_general.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/contract.h"
#include "spawner/process/job.h"
#include "system/log.h"
#include "spawner/output/output.h"
#include "spawner/process/process.h"
#include "tests/unit/support/scene.h"
#include "tests/unit/support/temporary.h"

static char dir[TEMPORARY_MAX];

spawner_t *scratch_begin(void)
{
    spawner_t *s = state_spawner();

    apr_initialize();
    memset(s, 0, sizeof *s);
    apr_pool_create(&s->pool, NULL);
    assert_non_null(temporary_dir(dir, "apppool-unit"));
    s->rt.dir = dir;
    s->rt.fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(s->rt.fd >= 0);
    log_directory(s->rt.fd);
    s->now = SECOND;
    assert_int_equal(mknodat(s->rt.fd, CONTRACT_ERRORLOG, S_IFREG | 0600, 0),
                     0);
    return s;
}

int scratch_end(void **state)
{
    (void)state;
    close(state_spawner()->rt.fd);
    return temporary_remove(dir);
}

int scratch_forget(void **state)
{
    process_t *p;

    (void)state;
    for (p = state_spawner()->processes; p; p = p->next) {
        output_forget(&p->output);
        p->done = 1;
    }
    process_collect(state_spawner());
    return 0;
}

int scratch_lines(const char *what)
{
    char line[1024];
    int n = 0, fd = openat(state_spawner()->rt.fd, CONTRACT_ERRORLOG,
                           O_RDONLY | O_CLOEXEC);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "r");

    while (file && fgets(line, sizeof line, file))
        n += strstr(line, what) != NULL;
    if (file)
        fclose(file);
    return n;
}

void scratch_reap(pid_t child)
{
    siginfo_t info;

    memset(&info, 0, sizeof info);
    assert_int_equal(waitid(child < 0 ? P_ALL : P_PID, (id_t)child, &info,
                            WEXITED | WNOWAIT),
                     0);
    job_reap(state_spawner(), &info);
    log_writer_reap(info.si_pid);
    assert_int_equal(waitpid(info.si_pid, NULL, 0), info.si_pid);
}

void scratch_program(int at, const char *script)
{
    const spawner_t *s = state_spawner();
    int fd = openat(s->rt.fd, "program", O_WRONLY | O_CREAT | O_TRUNC, 0700);

    assert_int_equal(write(fd, script, strlen(script)), strlen(script));
    close(fd);
    fd = openat(s->rt.fd, "program", O_RDONLY);
    if (fd != at) {
        assert_int_equal(dup2(fd, at), at);
        close(fd);
    }
}
