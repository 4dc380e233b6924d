/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/start/start.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm/policy/restart.h"
#include "system/cgroup.h"
#include "detect/detect.h"
#include "detect/detect_line.h"
#include "detect/detect_path.h"
#include "spawner/process/environment.h"
#include "spawner/process/state.h"
#include "system/child_reset.h"
#include "base/privilege.h"
#include "system/daemonize.h"
#include "spawner/process/approot_owner.h"
#include "base/clock_ms.h"
#include "base/contract.h"

#define LISTENER_FD 3
#define REPORT_FD   4
#define STORE_LIMIT INT64_C(5000) /* ms */
#define STORE_LOOK  5             /* ms from one look to the next */
#define STORE_UNIX  "unix:"
#define STORE_MODE  0666 /* the store sets it when the socket listens */

static int report_fd;
static uint32_t step = START_STEP_USER; /* the step that runs */
static uid_t owner;    /* of AppRoot, if that user runs the app; or NOBODY */
static uint64_t stamp; /* of restart.txt */

/* Send a report, with this text and the step. */
static void report_back(boot_report_t report, const char *text)
{
    report.step = step;
    snprintf(report.text, sizeof report.text, "%s", text);
    if (write(report_fd, &report, sizeof report) < 0) {
        /* The spawner died. The next one will see our exit. */
    }
}

static _Noreturn void fail(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

static _Noreturn void fail(const char *format, ...)
{
    char text[BOOT_TEXT_MAX];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    report_back((boot_report_t){.kind = BOOT_FAILED}, text);
    _exit(1);
}

/* Only root can give these files to the app's user. */
static void hand_over(const boot_t *b, const privilege_t *account)
{
    process_files_path_t path;

    process_files_path(b->rt, CONTRACT_NOTIFY, b->id, path);
    if (process_files_give(path, account->uid, account->gid) != 0)
        fail("%s cannot be given to user %s: %s", path, account->name,
             strerror(errno));
    /* Then the app may open /dev/stderr. */
    if (fchown(STDOUT_FILENO, account->uid, account->gid) != 0)
        fail("the output cannot be given to user %s: %s", account->name,
             strerror(errno));
    if (b->app->listen != APL_LISTEN_UNIX)
        return;
    process_files_path(b->rt, CONTRACT_OWN, b->id, path);
    *strrchr(path, '/') = 0;
    if (mkdir(path, 0700) != 0 || lchown(path, account->uid, account->gid) != 0)
        fail("%s cannot be made: %s", path, strerror(errno));
}

static void close_others(void)
{
    if (close_range(REPORT_FD + 1, ~0u, 0) != 0)
        fail("the spawner's descriptors cannot be closed: %s", strerror(errno));
}

/* From here on the child has no other descriptors of the spawner. What follows
 * may be slow, and a client that waits for the end of its connection to the
 * spawner must not wait for it. */
static void own_descriptors(const boot_t *b)
{
    /* Move them up first, so that dup2() below overwrites none of them. */
    int listener = b->listener < 0 ? -1 : fcntl(b->listener, F_DUPFD, 10);
    int output = fcntl(b->output, F_DUPFD, 10);
    int null = open("/dev/null", O_RDWR);
    int report = fcntl(report_fd, F_DUPFD, 10);

    if ((b->listener >= 0 && listener < 0) || null < 0 || dup2(null, 0) < 0 ||
        dup2(output, 1) < 0 || dup2(output, 2) < 0 ||
        dup2(report, REPORT_FD) < 0)
        fail("descriptors cannot be set up: %s", strerror(errno));
    report_fd = REPORT_FD;
    if (fcntl(REPORT_FD, F_SETFD, FD_CLOEXEC) != 0 ||
        (listener >= 0 && dup2(listener, LISTENER_FD) < 0))
        fail("descriptors cannot be set up: %s", strerror(errno));
    if (listener < 0)
        close(LISTENER_FD);
    close_others();
}

/* ---- user and directory ---- */

static void find_user(const boot_t *b, privilege_t *account)
{
    const char *root = b->app->app.root;
    char error[PRIVILEGE_ERROR_MAX];

    step = START_STEP_DIRECTORY;
    if (access(root, F_OK) != 0 && errno != EACCES)
        fail("AppRoot %s cannot be used: %s", root, strerror(errno));
    step = START_STEP_USER;
    owner = approot_owner_user(b->app);
    if (privilege_find(account, b->app->user, b->app->group, owner, root,
                       error) != 0)
        fail("%s", error);
    report_back((boot_report_t){.kind = BOOT_USER,
                                .uid = account->uid,
                                .gid = account->gid},
                account->name);
}

/* The process is the app's user already. It enters the directory first and
 * then checks its owner, so no user can change the directory between check and
 * use. */
static void enter_root(const boot_t *b, const privilege_t *account)
{
    const char *root = b->app->app.root;
    struct stat st;

    step = START_STEP_DIRECTORY;
    if (chdir(root) != 0)
        fail("AppRoot %s cannot be entered by user %s: %s", root, account->name,
             strerror(errno));
    if (owner == USERDB_NOBODY)
        return;
    if (stat(".", &st) != 0)
        fail("AppRoot %s cannot be checked by user %s: %s", root, account->name,
             strerror(errno));
    if (st.st_uid != account->uid)
        fail("AppRoot %s belongs to user %u now, and belonged to user %s when "
             "httpd read its configuration: reload httpd (apachectl graceful), "
             "or set AppUser",
             root, (unsigned)st.st_uid, account->name);
}

/* ---- the command ---- */

/* Replace %s by the address to listen on, and %% by %. Any other % stays. */
static char *expand(const boot_t *b, const char *command)
{
    process_files_path_t where;
    char *text = malloc(strlen(command) * sizeof where + 1), *to = text;

    if (!text)
        fail("out of memory");
    if (b->app->listen == APL_LISTEN_TCP)
        snprintf(where, sizeof where, "127.0.0.1:%u", b->port);
    else
        process_files_path(b->rt, process_files_kind((uint32_t)b->app->listen),
                           b->id, where);
    for (; *command; command++) {
        if (command[0] == '%' && command[1] == 's') {
            to = stpcpy(to, where);
            command++;
        }
        else {
            if (command[0] == '%' && command[1] == '%')
                command++;
            *to++ = *command;
        }
    }
    *to = 0;
    return text;
}

/* What sh gets, and what follows from it for the environment. */
static void read_line(const boot_t *b, const detect_config_t *config,
                      detect_found_t *found, detect_line_t *line)
{
    const char *command = b->app->command ? b->app->command : found->command;

    if (!detect_line(found->is_written ? command : expand(b, command), found,
                     (uint32_t)b->app->listen,
                     strcmp(b->app->environment, "production") == 0, line))
        fail("out of memory");
    if (b->app->command)
        detect_given(config, line->command, found);
    if (b->app->command && *line->package.event)
        found->concurrency = 0; /* of npm, whatever the script runs */
    found->runs_node = line->runs_node;
    found->runs_ruby = line->runs_ruby;
    found->uses_port = line->uses_port;
    found->package = line->package;
}

/* What the configuration says of variables, for detection. */
typedef struct {
    const boot_t *boot;
    char *const *variables; /* of AppEnvFile */
} known_t;

static const char *variable_of(const void *context, const char *name)
{
    const known_t *known = context;

    return environment_value(known->boot, known->variables, name);
}

static void find_command(const boot_t *b, char *const *variables,
                         detect_found_t *found, detect_line_t *line)
{
    const known_t known = {b, variables};
    const detect_config_t config = {
        .listen = b->app->listen,
        .protocol = b->app->protocol,
        .concurrency = b->app->app.options.concurrency,
        .is_template = b->is_template ? b->app->preload : 0,
        .says_ready = b->app->notifies,
        .variable = variable_of,
        .context = &known};

    if (b->app->command)
        memset(found, 0, sizeof *found);
    else if (!detect_command(&config, found))
        fail("no AppCommand is set, and in %s %s", b->app->app.root,
             found->why);
    read_line(b, &config, found, line);
    if (b->app->ready && found->protocol != APL_HTTP)
        fail(
            "%s, and the protocol is fcgi: AppReady %s needs AppProtocol http; "
            "use AppReady notify or accept",
            found->why, b->app->ready);
}

/* FastCGI and SCGI programs expect their socket as standard input. */
static void give_stdin(const boot_t *b, uint32_t protocol)
{
    if (b->listener >= 0 && (protocol == APL_FCGI || protocol == APL_SCGI) &&
        dup2(LISTENER_FD, 0) < 0)
        fail("descriptors cannot be set up: %s", strerror(errno));
}

/* ---- AppEnvFile ---- */

static struct {
    char *text; /* NULL: there is none */
    size_t length;
} variables;

/* This is called while the process can still read root's files. */
static void read_variables(const boot_t *b, const privilege_t *account)
{
    char error[ENV_FILE_ERROR_MAX];

    if (!b->app->env_file)
        return;
    step = START_STEP_VARIABLES;
    variables.text =
        env_file_read(b->app->env_file, account, &variables.length, error);
    if (!variables.text)
        fail("%s", error);
}

/* This is called with the app's rights. */
static char **parse_variables(const boot_t *b)
{
    char error[ENV_FILE_ERROR_MAX] = "out of memory", **list;

    if (!variables.text)
        return NULL;
    step = START_STEP_VARIABLES;
    list = env_file_parse(b->app->env_file, variables.text, variables.length,
                          error);
    if (!list)
        fail("%s", error);
    return list;
}

/* ---- the store ----
 *
 * Store and spawner are started at the same time, and do not wait for each
 * other. Many clients take a socket that is not there for a server that is
 * dead. So the child that becomes the app waits, and delays nobody else. The
 * directory belongs to the store's user. Nothing there is opened. */

static int store_is_there(const char *path)
{
    struct stat st;

    if (lstat(path, &st) != 0)
        return errno != ENOENT;
    return (st.st_mode & STORE_MODE) == STORE_MODE;
}

/* Without a table no store makes the socket. */
static int store_is_to_come(const char *socket)
{
    const char *slash = strrchr(socket, '/');
    char table[PATH_MAX];

    snprintf(table, sizeof table, "%.*s%s",
             slash ? (int)(slash + 1 - socket) : 0, socket,
             &CONTRACT_STORE_TABLE[sizeof CONTRACT_STORES]);
    return access(table, F_OK) == 0;
}

static void wait_for_store(const app_entry_t *app)
{
    const char *store = environment_find(app->store_env, "APPPOOL_STORE");
    int64_t limit = app->start_timeout / 2000, until;

    if (!store || strncmp(store, STORE_UNIX, strlen(STORE_UNIX)) != 0)
        return;
    store += strlen(STORE_UNIX);
    until = clock_ms() + (limit < STORE_LIMIT ? limit : STORE_LIMIT);
    while (!store_is_there(store) && store_is_to_come(store) &&
           clock_ms() < until)
        poll(NULL, 0, STORE_LOOK);
}

/* ---- becoming the app ---- */

static void drop_rights(const boot_t *b, const privilege_t *account)
{
    char error[PRIVILEGE_ERROR_MAX];
    const char *refused = environment_limit(b->app, &b->descriptors);

    if (refused)
        fail("%s cannot be set: %s", refused, strerror(errno));
    step = START_STEP_USER;
    if (privilege_drop(account, !b->app->no_new_privileges, error) != 0)
        fail("%s", error);
}

static _Noreturn void execute(const boot_t *b, const privilege_t *account)
{
    char **list = parse_variables(b);
    static detect_found_t found;
    static detect_path_t path;
    static detect_line_t line;
    int i;

    step = START_STEP_COMMAND;
    find_command(b, list, &found, &line);
    detect_path(account->home, environment_value(b, list, "RBENV_ROOT"), &path);
    give_stdin(b, found.protocol);
    report_back((boot_report_t){.kind = BOOT_COMMAND,
                                .protocol = found.protocol,
                                .concurrency = found.concurrency,
                                .stamp = stamp},
                line.command);
    for (i = 0; i < line.notes.n; i++)
        report_back((boot_report_t){.kind = BOOT_NOTE}, line.notes.text[i]);
    if (found.is_unread &&
        b->app->app.options.concurrency == APL_CONCURRENCY_AUTO)
        report_back((boot_report_t){.kind = BOOT_NOTE}, found.counted);
    execle("/bin/sh", "sh", "-c", line.line, NULL,
           environment_make(b, account, &path, list, &found));
    fail("/bin/sh cannot be executed: %s", strerror(errno));
}

_Noreturn void boot_app(const boot_t *b)
{
    char error[PRIVILEGE_ERROR_MAX], go;
    privilege_t account;

    report_fd = b->report;
    setsid();
    child_reset_signals();
    if (read(b->go, &go, 1) != 1)
        _exit(1);
    step = START_STEP_PREPARE;
    if (cgroup_enter(b->id) != 0)
        fail("it cannot have a cgroup of its own: %s", strerror(errno));
    own_descriptors(b);
    find_user(b, &account);
    step = START_STEP_PREPARE;
    hand_over(b, &account);
    if (privilege_groups(&account, error) != 0)
        fail("%s", error);
    /* Modules of the user database may have opened some. */
    close_others();
    daemonize_oom_score("0");
    umask(022);
    read_variables(b, &account);
    drop_rights(b, &account);
    /* If the file changes from here on, this may be the old code. AppRoot is
     * not entered yet: a link in its path may lead to another release soon. */
    stamp = apl_restart_stamp(b->app->restart_dir);
    if (stamp == APL_STAMP_UNKNOWN)
        stamp = APL_STAMP_NO_FILE; /* the process itself is heard */
    enter_root(b, &account);
    wait_for_store(b->app);
    execute(b, &account);
}
