/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/output/output.h"

#include <apr_general.h>
#include <apr_strings.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/contract.h"
#include "system/log.h"
#include "base/clock_ms.h"
#include "base/privilege.h"
#include "system/daemonize.h"
#include "spawner/output/to_syslog.h"
#include "system/reap.h"
#include "system/child_reset.h"

#define SAY_AGAIN 60000 /* ms between two lines about one file or command */
#define NOT_READ  "the command does not read"
#define SAY_FIRST 1000  /* ms from the first lost line to the log line */
#define SAY_PAUSE 10000 /* ms between two log lines */
#define TRY_PAUSE 1000  /* ms, between two starts */
#define END_WAIT  6     /* s for it to end after the end of its input */
#define TERM_WAIT 500   /* ms for it to end after TERM */
#define LOOK      20    /* ms between two checks whether it has ended */

int log_program_open(const char *path, unsigned uid, unsigned gid)
{
    mode_t mask = umask(027);
    int fd = open_as(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, 0640,
                     uid, gid, NULL);
    int error = errno;

    umask(mask);
    errno = error;
    return fd;
}

/* ---- lines that cannot be written: the error log says how many, and why the
 * last of them. The first such line comes after a second, the others ten
 * seconds apart ---- */

static size_t lost;
static char lost_why[100];
static int64_t lost_due; /* ms: nothing is logged before that */

/* The lines that end in this text are lost. @param why the end of a sentence */
static void lost_lines_add(const char *text, size_t length, const char *why)
{
    if (lost == 0 && lost_due < clock_ms() + SAY_FIRST)
        lost_due = clock_ms() + SAY_FIRST;
    lost += log_count(text, length);
    snprintf(lost_why, sizeof lost_why, "%s", why);
}

static void lost_lines_end(const char *name)
{
    if (lost == 0)
        return;
    log_line(LOG_WARN, "%s: %zu lines dropped: %s", name, lost, lost_why);
    lost = 0;
    lost_due = clock_ms() + SAY_PAUSE;
}

/* Log how many, if that is due. @param name of the log
 * @return ms: call this again then; -1: none is lost */
static int lost_lines_tick(const char *name)
{
    int64_t left = lost_due - clock_ms();

    if (lost == 0)
        return -1;
    if (left > 0)
        return (int)left;
    lost_lines_end(name);
    return -1;
}

/* ---- a command, by httpd's rules for piped logs: AppLog "|rotatelogs ..."
 *
 * The command runs as the user that started httpd. It has no shell unless it
 * begins with $. When it ends, it is started again, at most once a second. What
 * it has not read stays in the pipe for the next one. If this program dies, the
 * command reads the end of its input. If the command cannot be run, the error
 * log gets a warning, once a minute. What is to be written waits for the
 * command. */

/* May more be written to the command? @param stuck 1: it has not read for a
 * second; 0: it reads, and what it got so far ends with a newline */
typedef int piped_log_may_t(int stuck);

static int ends[2] = {-1, -1}; /* of its standard input */
static pid_t pid;              /* 0: it does not run */
static int64_t again;          /* ms: no start before that */

/* ---- the command ---- */

static char **words_of(const char *command)
{
    static char *shell[] = {"/bin/sh", "-c", NULL, NULL};
    char **argv;
    apr_pool_t *p;

    if (*command == '$') {
        shell[2] = strdup(command + 1);
        return shell;
    }
    apr_initialize();
    apr_pool_create(&p, NULL);
    return apr_tokenize_to_argv(command, &argv, p) == APR_SUCCESS ? argv : NULL;
}

static _Noreturn void become(const char *command)
{
    int log = log_open();
    char **argv;

    child_reset_signals();
    if (dup2(ends[0], STDIN_FILENO) < 0 ||
        dup2(log < 0 ? CONTRACT_LOG_FD : log, STDOUT_FILENO) < 0 ||
        dup2(STDOUT_FILENO, STDERR_FILENO) < 0)
        _exit(126);
    child_reset_descriptors(-1);
    argv = words_of(command);
    if (argv && argv[0])
        execvp(argv[0], argv);
    _exit(127);
}

static void say_ended(const char *command, const siginfo_t *cause)
{
    static int64_t said = -SAY_AGAIN;
    char text[REAP_CAUSE_MAX];

    if (clock_ms() - said < SAY_AGAIN)
        return;
    log_line(LOG_WARN, "AppLog |%s: the command ended: %s; it is started again",
             command, reap_cause(cause, text));
    said = clock_ms();
}

static int has_ended(siginfo_t *cause)
{
    memset(cause, 0, sizeof *cause);
    return pid > 0 && waitid(P_PID, (id_t)pid, cause, WEXITED | WNOHANG) == 0 &&
           cause->si_pid == pid;
}

static void keep_running(const char *command)
{
    siginfo_t cause;

    if (has_ended(&cause)) {
        pid = 0;
        say_ended(command, &cause);
    }
    if (pid != 0 || clock_ms() < again)
        return;
    again = clock_ms() + TRY_PAUSE;
    pid = fork();
    if (pid == 0)
        become(command);
    if (pid < 0)
        pid = 0;
}

/* ---- its input ---- */

/* Both ends of the pipe stay open, so the next command reads what the last one
 * has not read. Our end does not block, so that we notice when the command
 * ends. */
static int open_pipe(void)
{
    if (ends[0] >= 0)
        return 1;
    return pipe2(ends, O_CLOEXEC) == 0 &&
           fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0;
}

/* Start the command again if it has ended. @return ms: call this again then;
 * -1: at the next SIGCHLD */
static int piped_log_tick(const char *command)
{
    int64_t left;

    if (ends[0] < 0)
        return -1;
    keep_running(command);
    left = again - clock_ms();
    return pid != 0 ? -1 : left > 0 ? (int)left : 0;
}

/* @return how many bytes to write at once: whole lines; or, of a line that is
 * longer than PIPE_BUF, a part. A pipe takes such a piece completely or not at
 * all */
static size_t piece(const char *text, size_t length)
{
    const char *end;

    if (length <= PIPE_BUF)
        return length;
    end = memrchr(text, '\n', PIPE_BUF);
    return end ? (size_t)(end - text) + 1 : PIPE_BUF;
}

/* Write whole lines. Waits while the command does not read.
 * @param may called after each 4 KB, and in each second of a wait
 * @return bytes that were written: all, or those before `may` returned 0 */
static size_t piped_log_write(const char *command, const char *text,
                              size_t length, piped_log_may_t *may)
{
    size_t done = 0;

    if (!open_pipe()) {
        lost_lines_add(text, length, strerror(errno));
        return length;
    }
    while (done < length) {
        struct pollfd room = {ends[1], POLLOUT, 0};
        ssize_t n;

        keep_running(command);
        n = write(ends[1], text + done, piece(text + done, length - done));
        if (n > 0) {
            done += (size_t)n;
            if (text[done - 1] == '\n' && !may(0))
                break;
        }
        else if (poll(&room, 1, TRY_PAUSE) == 0 && !may(1))
            break;
    }
    return done;
}

/* @return 1: it has ended */
static int wait_for_end(int ms)
{
    int64_t now = clock_ms(), took = 0;
    siginfo_t cause;

    while (!has_ended(&cause)) {
        if (took >= ms)
            return 0;
        poll(NULL, 0, LOOK);
        took += clock_ms_turn(&now, LOG_TURN);
    }
    return 1;
}

/* Nothing is taken out of the pipe to count its lines: a process that the
 * command has started may still read. */
static void say_unread(const char *command)
{
    int left = 0;

    if (ioctl(ends[0], FIONREAD, &left) == 0 && left > 0)
        log_line(LOG_WARN, "AppLog |%s: its last %d bytes were not read",
                 command, left);
}

/* End the input of the command. It has six seconds to read the rest and to end
 * by itself, then half a second after TERM. The error log says what it has not
 * read. Nothing happens if nothing was written yet. */
static void piped_log_end(const char *command)
{
    if (ends[0] < 0)
        return;
    close(ends[1]);
    if (pid > 0 && !wait_for_end(END_WAIT * 1000)) {
        log_line(LOG_WARN,
                 "AppLog |%s: the command still runs %d s after the end of its "
                 "input: SIGTERM",
                 command, END_WAIT);
        kill(pid, SIGTERM);
        if (!wait_for_end(TERM_WAIT)) {
            kill(pid, SIGKILL);
            waitpid(pid, NULL, 0);
        }
    }
    say_unread(command);
    close(ends[0]);
    ends[0] = ends[1] = -1;
    pid = 0;
    again = 0;
}

/* ---- files ---- */

/* Take the groups of the app. If they cannot be found, take only its first
 * group: the groups that httpd was started with are root's. */
static void take_groups(uid_t uid, gid_t gid)
{
    privilege_t account = {.uid = uid, .gid = gid};
    const struct passwd *pw = getpwuid(uid);
    char error[PRIVILEGE_ERROR_MAX];

    if (pw) {
        snprintf(account.name, sizeof account.name, "%s", pw->pw_name);
        account.known = 1;
    }
    if (privilege_groups(&account, error) != 0)
        setgroups(1, &gid);
}

static void write_all(int fd, const char *text, size_t length)
{
    ssize_t n;

    while (length > 0 && (n = write(fd, text, length)) > 0) {
        text += n;
        length -= (size_t)n;
    }
    if (length > 0)
        lost_lines_add(text, length, strerror(errno));
}

/* ---- the error log, when there is no other log ---- */

static int is_raw(char **argv)
{
    return strcmp(argv[LOG_PROGRAM_FORMAT], LOG_PROGRAM_RAW) == 0;
}

static size_t in_format(const char *prefix, const char *text, size_t length,
                        char to[LOG_RULES_LINE_MAX])
{
    const log_message_t message = {LOG_INFO, prefix, text, length};
    size_t n =
        log_format_line(log_format(), &message, to, LOG_RULES_LINE_MAX - 1);

    to[n++] = '\n';
    return n;
}

/* The line lacks only what an error log has behind the time.
 * @param time bytes of the time; 0: the line lacks nothing */
static size_t in_own_form(const char *from, size_t length, size_t time,
                          char to[LOG_RULES_LINE_MAX])
{
    size_t n = time;

    memcpy(to, from, time);
    if (time > 0)
        n += (size_t)snprintf(
            to + n, LOG_RULES_LINE_MAX - n,
            "[apppool:info] [pid %d] apppool: ", (int)getpid());
    from += time;
    length -= time;
    if (length + 1 > LOG_RULES_LINE_MAX - n)
        return 0;
    memcpy(to + n, from, length);
    to[n + length] = '\n';
    return n + length + 1;
}

/* Make a line for the error log. @return bytes; 0: it does not fit */
static size_t convert(char **argv, const char *from, size_t length,
                      char to[LOG_RULES_LINE_MAX])
{
    const char *rest = memmem(from, length, "] ", 2);
    size_t time = rest ? (size_t)(rest + 2 - from) : 0;
    char prefix[220];

    if (is_raw(argv)) {
        snprintf(prefix, sizeof prefix, "AppLog %.200s> ",
                 argv[LOG_PROGRAM_ROUTE]);
        return in_format(prefix, from, length, to);
    }
    if (*argv[LOG_PROGRAM_ROUTE] == LOG_PROGRAM_ERRORLOG)
        time = 0; /* it is a line of an error log */
    return time > 0 && log_format()
               ? in_format("", from + time, length - time, to)
               : in_own_form(from, length, time, to);
}

static void write_elsewhere(char **argv, const char *text, size_t length)
{
    static char line[LOG_RULES_LINE_MAX];
    static token_bucket_t bucket;
    const char *end;

    for (; (end = memchr(text, '\n', length)) != NULL; text = end + 1) {
        size_t n = (size_t)(end - text), converted = 0;

        if (log_rules_allow(&bucket, 0, clock_ms() * 1000, n))
            converted = convert(argv, text, n, line);
        if (converted > 0)
            log_write(line, converted);
        else
            lost_lines_add(text, n + 1, "the error log takes no more of them");
        length -= n + 1;
    }
}

/* ---- where it goes ---- */

/* "=/proc/PID/fd/N DEV:INO" */
static int open_errorlog(const char *route)
{
    unsigned long long dev, ino;
    char path[64];
    struct stat st;
    int found, fd = -1, error;

    errno = EINVAL;
    if (sscanf(route, "=%63s %llu:%llu", path, &dev, &ino) != 3)
        return -1;
    /* Check the file before it is opened for writing: to open another file may
     * have side effects. */
    found = open(path, O_PATH | O_CLOEXEC);
    if (found < 0)
        return -1;
    errno = ESTALE;
    if (fstat(found, &st) == 0 && st.st_dev == dev && st.st_ino == ino) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", found);
        fd =
            open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    }
    error = errno;
    close(found);
    errno = error;
    return fd;
}

static int open_or_say(char **argv)
{
    static int64_t said = -SAY_AGAIN;
    const char *route = argv[LOG_PROGRAM_ROUTE];
    int fd;

    if (*route == LOG_PROGRAM_ERRORLOG)
        return open_errorlog(route); /* httpd opens it again, or ends */
    fd = log_program_open(route,
                          (unsigned)strtoul(argv[LOG_PROGRAM_UID], NULL, 10),
                          (unsigned)strtoul(argv[LOG_PROGRAM_GID], NULL, 10));
    if (fd < 0 && clock_ms() - said >= SAY_AGAIN) {
        log_line(LOG_ERROR, "AppLog %s cannot be opened: %s", route,
                 strerror(errno));
        said = clock_ms();
    }
    return fd;
}

/* ---- a message ---- */

static volatile sig_atomic_t reloaded;

/* While there are more messages, the program does not wait, so it does not
 * notice signals. So it asks for them. */
static void hear_signals(void)
{
    struct timespec now = {0, 0};
    sigset_t none;

    sigemptyset(&none);
    ppoll(NULL, 0, &now, &none);
}

static int nobody_sends(void)
{
    struct pollfd input = {STDIN_FILENO, 0, 0};

    return poll(&input, 1, 0) == 1 && (input.revents & POLLHUP);
}

/* The command ends after a reload. If it does not read, it also ends when the
 * input of this program has ended. */
static int may_go_on(int stuck)
{
    hear_signals();
    return !reloaded && !(stuck && nobody_sends());
}

static _Noreturn void end(const char *route)
{
    log_name_t name;

    lost_lines_end(log_rules_name(route, name));
    log_tick(1);
    exit(0);
}

/* The command does not read, and no more messages come. */
static _Noreturn void give_up(const char *route, const char *text,
                              size_t length)
{
    static char message[LOG_PROGRAM_MAX];
    ssize_t n;

    lost_lines_add(text, length, NOT_READ);
    while ((n = recv(STDIN_FILENO, message, sizeof message, MSG_DONTWAIT)) > 0)
        lost_lines_add(message, (size_t)n, NOT_READ);
    end(route);
}

/* The next command gets the rest, beginning with the next line. */
static void write_piped(const char *route, const char *text, size_t length)
{
    const char *command = route + 1;

    while (length > 0) {
        size_t n = piped_log_write(command, text, length, may_go_on);
        const char *torn = n > 0 && n < length && text[n - 1] != '\n'
                               ? memchr(text + n, '\n', length - n)
                               : NULL;

        text += n;
        length -= n;
        if (length == 0)
            return;
        piped_log_end(command);
        if (!reloaded)
            give_up(route, text, length);
        reloaded = 0;
        if (torn) {
            n = (size_t)(torn - text) + 1;
            lost_lines_add(text, n, NOT_READ);
            text += n;
            length -= n;
        }
    }
}

static void write_message(char **argv, const char *text, size_t length)
{
    static const char to_syslog[] = "=syslog";
    const char *route = argv[LOG_PROGRAM_ROUTE];
    int fd;

    if (*route == LOG_PROGRAM_PIPE) {
        write_piped(route, text, length);
        return;
    }
    if (strncmp(route, to_syslog, sizeof to_syslog - 1) == 0) {
        to_syslog_write(route + 1, text, length);
        return;
    }
    fd = open_or_say(argv);
    if (fd < 0) {
        write_elsewhere(argv, text, length);
        return;
    }
    fcntl(fd, F_SETFL, O_APPEND); /* wait for a FIFO that is full */
    write_all(fd, text, length);
    close(fd);
}

/* ---- the program ---- */

static void on_signal(int sign)
{
    reloaded |= sign == SIGHUP;
}

/* The signals are blocked, except when the program asks for them and when it
 * waits for a message (wait_for_message). */
static void listen_for(int sign)
{
    struct sigaction action;
    sigset_t set;

    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    sigaction(sign, &action, NULL);
    sigemptyset(&set);
    sigaddset(&set, sign);
    sigprocmask(SIG_BLOCK, &set, NULL);
}

static void begin(char **argv)
{
    prctl(PR_SET_NAME, CONTRACT_LOG_PROGRAM, 0, 0, 0);
    close(CONTRACT_PROGRAM_FD);
    signal(SIGPIPE, SIG_IGN); /* an AppLog that is a FIFO */
    daemonize_oom_score("0");
    log_directory(
        open(argv[LOG_PROGRAM_RUNTIME], O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (*argv[LOG_PROGRAM_ROUTE] == '/')
        take_groups((uid_t)strtoul(argv[LOG_PROGRAM_UID], NULL, 10),
                    (gid_t)strtoul(argv[LOG_PROGRAM_GID], NULL, 10));
    listen_for(SIGHUP);
    listen_for(SIGCHLD);
}

/* @return the ms of two that end first; -1 is never */
static int earlier(int a, int b)
{
    return a < 0 || (b >= 0 && b < a) ? b : a;
}

/* Wait for a message or the end of the input. Meanwhile, start a command again
 * that has ended, and log what was lost. */
static void wait_for_message(const char *route)
{
    struct pollfd input = {STDIN_FILENO, POLLIN, 0};
    log_name_t name;
    struct timespec limit;
    sigset_t none;
    int ms;

    sigemptyset(&none);
    log_rules_name(route, name);
    do {
        if (reloaded)
            piped_log_end(route + 1);
        reloaded = 0;
        log_tick(0);
        ms = *route == LOG_PROGRAM_PIPE ? piped_log_tick(route + 1) : -1;
        ms = earlier(ms, lost_lines_tick(name));
        limit.tv_sec = ms / 1000;
        limit.tv_nsec = ms % 1000 * 1000000;
    } while (ppoll(&input, 1, ms < 0 ? NULL : &limit, &none) != 1);
}

int log_program_main(char **argv)
{
    static char text[LOG_PROGRAM_MAX];
    const char *route = argv[LOG_PROGRAM_ROUTE];
    ssize_t n;

    begin(argv);
    for (;;) {
        wait_for_message(route);
        n = recv(STDIN_FILENO, text, sizeof text, 0);
        if (n <= 0)
            break;
        write_message(argv, text, (size_t)n);
    }
    piped_log_end(route + 1);
    end(route);
}
