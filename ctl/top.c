/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "ctl/commands.h"

#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "ctl/ask_server.h"
#include "ctl/values.h"
#include "shm/view/view.h"

#define WITH_CTRL(letter) ((letter)&0x1f)

/* Switch to the second screen. The first one comes back at the end. */
#define ENTER             "\033[?1049h\033[?25l"
#define LEAVE             "\033[?25h\033[?1049l"

/* ---- the terminal ----
 *
 * A screen that is drawn again and again, and the keys that are pressed
 * meanwhile. If standard output is not a terminal, the screens are printed one
 * after another, and keys are not read. */

static struct termios keys_before;
static int screen_taken, keys_taken;
static volatile sig_atomic_t ended;

static void end(int number)
{
    ended = number;
}

static void resized(int number)
{
    (void)number; /* poll() returns, and that is enough */
}

static void put_right(void)
{
    if (screen_taken) {
        fputs(LEAVE, stdout);
        fflush(stdout);
    }
    if (keys_taken)
        tcsetattr(STDIN_FILENO, TCSANOW, &keys_before);
}

static void take_keys(void)
{
    struct termios now;

    if (!isatty(STDIN_FILENO) || tcgetattr(STDIN_FILENO, &keys_before) != 0)
        return;
    now = keys_before;
    now.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG);
    now.c_cc[VMIN] = 1;
    now.c_cc[VTIME] = 0;
    keys_taken = tcsetattr(STDIN_FILENO, TCSANOW, &now) == 0;
}

/* Use the terminal until exit(). It is put right then, also by SIGINT, SIGTERM
 * and SIGHUP. */
static void terminal_begin(void)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = end};
    size_t i;

    for (i = 0; i < sizeof ends / sizeof *ends; i++)
        sigaction(ends[i], &action, NULL);
    action.sa_handler = resized;
    sigaction(SIGWINCH, &action, NULL);
    if (!isatty(STDOUT_FILENO))
        return;
    atexit(put_right);
    screen_taken = 1;
    fputs(ENTER, stdout);
    take_keys();
}

/* The number of bytes that the first `columns` characters of the line take. */
static int cut(const char *line, size_t length, int columns)
{
    size_t i;

    for (i = 0; i < length; i++)
        if (((unsigned char)line[i] & 0xc0) != 0x80 && columns-- == 0)
            break;
    return (int)i;
}

static struct winsize terminal_size(void)
{
    struct winsize size;

    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 ||
        size.ws_col == 0)
        size = (struct winsize){.ws_row = 24, .ws_col = 80};
    return size;
}

/* Draw the screen: lines of UTF-8, cut to the size of the terminal.
 * @return 0, or -1: errno */
static int terminal_draw(const char *screen)
{
    struct winsize size = terminal_size();
    int row;

    if (!screen_taken) {
        fputs(screen, stdout);
        return fflush(stdout) == 0 && !ferror(stdout) ? 0 : -1;
    }
    /* Write over the old text, because clearing it first would flicker. */
    fputs("\033[H", stdout);
    for (row = 0; *screen && row < size.ws_row; row++) {
        size_t length = strcspn(screen, "\n");

        printf("%s%.*s\033[K", row ? "\n" : "",
               cut(screen, length, size.ws_col), screen);
        screen += length + (screen[length] == '\n');
    }
    fputs("\033[J", stdout);
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : -1;
}

/* Wait until the time is over or a key is pressed.
 * @return 0: the time is over, the size of the screen changed, or the key asks
 * to draw again; 1: the program is to end */
static int terminal_wait(int milliseconds)
{
    struct pollfd keys = {keys_taken ? STDIN_FILENO : -1, POLLIN, 0};
    char key;

    if (ended || poll(&keys, 1, milliseconds) <= 0)
        return ended != 0;
    if (read(STDIN_FILENO, &key, 1) != 1)
        return 1;
    return key == 'q' || key == 'Q' || key == WITH_CTRL('C') ||
           key == WITH_CTRL('D');
}

/* ---- rates ---- */

const char *top_rate(const top_reports_t *l, const json_t *now,
                     const json_t *before, const char *key, char text[24])
{
    json_int_t more = values_number(now, key) - values_number(before, key);

    if (!before || more < 0 || l->seconds <= 0)
        return "-";
    snprintf(text, 24, "%.1f", (double)more / l->seconds);
    return text;
}

/* ---- parts of the screen ---- */

void top_put_clock(FILE *out)
{
    time_t now = time(NULL);
    char clock[16];

    strftime(clock, sizeof clock, "%H:%M:%S", localtime(&now));
    fprintf(out, "%s  ", clock);
}

static void put_head(FILE *out, const top_reports_t *l)
{
    const json_t *pool = json_object_get(l->now, "pool");
    const json_t *counters = json_object_get(l->now, "counters");
    const json_t *before = json_object_get(l->before, "counters");
    json_int_t served =
        values_number(counters, "served") - values_number(before, "served");
    double took = json_number_value(json_object_get(counters, "app_seconds")) -
                  json_number_value(json_object_get(before, "app_seconds"));
    char per_second[24];

    top_put_clock(out);
    fprintf(out,
            "%lld of %lld processes, %lld active, %lld starting, %lld "
            "leaving; %lld waiting\n",
            (long long)values_number(pool, "count"),
            (long long)values_number(pool, "max"),
            (long long)values_number(pool, "active"),
            (long long)values_number(pool, "spawning"),
            (long long)values_number(pool, "leaving"),
            (long long)values_number(pool, "waiting"));
    fprintf(out, "%s requests/s",
            top_rate(l, counters, before, "requests", per_second));
    if (before && served > 0 && took >= 0)
        fprintf(out, ", %.1f ms each", took * 1000 / (double)served);
    fprintf(out, "%s%s\n\n", l->trouble ? "; " : "",
            l->trouble ? l->trouble : "");
}

/* ---- the columns of an application ---- */

/* A cell. @param text room for it, if it needs some */
typedef const char *cell_t(const top_reports_t *l, const json_t *g,
                           const char *key, char text[VALUES_SHORT]);

static const char *cell_text(const top_reports_t *l, const json_t *g,
                             const char *key, char text[VALUES_SHORT])
{
    (void)l;
    (void)text;
    return values_text(g, key);
}

static const char *cell_count(const top_reports_t *l, const json_t *g,
                              const char *key, char text[VALUES_SHORT])
{
    (void)l;
    return values_decimal(json_object_get(g, key), 0, text);
}

static const char *cell_state(const top_reports_t *l, const json_t *g,
                              const char *key, char text[VALUES_SHORT])
{
    return cell_count(l, json_object_get(g, "states"), key, text);
}

static const json_t *last_minute(const json_t *g)
{
    return json_object_get(json_object_get(g, "recent"), "1m");
}

/* Of the last minute, as the page has it; otherwise since the last screen. */
static const char *cell_rate(const top_reports_t *l, const json_t *g,
                             const char *key, char text[VALUES_SHORT])
{
    const json_t *rate = json_object_get(last_minute(g), key);

    return json_is_number(rate)
               ? values_decimal(rate, 1, text)
               : top_rate(l, g,
                          values_named(json_object_get(l->before, "groups"),
                                       values_word(g, "name")),
                          "requests_total", text);
}

static const char *cell_errors(const top_reports_t *l, const json_t *g,
                               const char *key, char text[VALUES_SHORT])
{
    return cell_count(l, last_minute(g), key, text);
}

static const char *cell_span(const top_reports_t *l, const json_t *g,
                             const char *key, char text[VALUES_SHORT])
{
    (void)l;
    return values_span(json_object_get(last_minute(g), key), text);
}

static const char *cell_cpu(const top_reports_t *l, const json_t *g,
                            const char *key, char text[VALUES_SHORT])
{
    (void)l;
    return values_decimal(json_object_get(g, key), 2, text);
}

static const char *cell_bytes(const top_reports_t *l, const json_t *g,
                              const char *key, char text[VALUES_SHORT])
{
    (void)l;
    return values_bytes(json_object_get(g, key), text);
}

/* In this order. The name of the app comes last, because it may be a long path.
 * On a narrow terminal, columns with a high number are left out. */
static const struct {
    const char *title;
    int width; /* below 0: to the left */
    int left_out;
    cell_t *cell;
    const char *key;
} columns[] = {
    {"STATE", -10, 0, cell_text, "state"},
    {"PROC", 4, 4, cell_count, "size"},
    {"BUSY", 4, 7, cell_state, "busy"},
    {"HUNG", 4, 5, cell_state, "hung"},
    {"QUEUE", 5, 3, cell_count, "queue"},
    {"SUSP", 4, 10, cell_count, "suspended"},
    {"REQ/S", 7, 1, cell_rate, "rate"},
    {"5XX", 5, 2, cell_errors, "errors"},
    {"P50", 7, 11, cell_span, "p50"},
    {"P95", 7, 9, cell_span, "p95"},
    {"P99", 7, 6, cell_span, "p99"},
    {"CPU", 5, 9, cell_cpu, "cpu"},
    {"MEMORY", 8, 8, cell_bytes, "memory"},
};

#define COLUMNS  (sizeof columns / sizeof *columns)
#define NAME_MIN 14 /* columns for the name of an app */

/* The columns with a number of at most this one fit. @param width of the
 * screen; 0: no limit */
static int most_that_fit(int width)
{
    int most, room;
    size_t i;

    for (most = 99; most > 0; most--) {
        room = width - 1 - NAME_MIN;
        for (i = 0; i < COLUMNS; i++)
            if (columns[i].left_out <= most)
                room -= abs(columns[i].width) + 1;
        if (width == 0 || room >= 0)
            break;
    }
    return most;
}

static void put_groups(FILE *out, const top_reports_t *l)
{
    const json_t *groups = json_object_get(l->now, "groups"), *g;
    int most = most_that_fit(l->columns);
    char text[VALUES_SHORT];
    size_t i, c;

    for (c = 0; c < COLUMNS; c++)
        if (columns[c].left_out <= most)
            fprintf(out, "%*s ", columns[c].width, columns[c].title);
    fputs(" APP\n", out);
    for (i = 0; (g = json_array_get(groups, i)) != NULL; i++) {
        for (c = 0; c < COLUMNS; c++)
            if (columns[c].left_out <= most)
                fprintf(out, "%*s ", columns[c].width,
                        columns[c].cell(l, g, columns[c].key, text));
        fprintf(out, " %s\n", values_text(g, "name"));
    }
}

/* The processes with connections that hold no worker, if there are any. */
static void put_suspended(FILE *out, const json_t *groups)
{
    const json_t *g, *process;
    size_t i, j;
    int is_first = 1;

    for (i = 0; (g = json_array_get(groups, i)) != NULL; i++)
        for (j = 0; (process = json_array_get(json_object_get(g, "processes"),
                                              j)) != NULL;
             j++) {
            if (values_number(process, "suspended") <= 0)
                continue;
            if (is_first)
                fprintf(out, "\n%7s %4s  %s\n", "PID", "SUSP", "APP");
            is_first = 0;
            fprintf(out, "%7lld %4lld  %s\n",
                    (long long)values_number(process, "pid"),
                    (long long)values_number(process, "suspended"),
                    values_text(g, "name"));
        }
}

/* The request with the greatest age first. */
static int compare(const void *a, const void *b)
{
    double x = json_number_value(json_object_get(*(json_t *const *)a, "age"));
    double y = json_number_value(json_object_get(*(json_t *const *)b, "age"));

    return (x < y) - (x > y);
}

/* @return an array, to be freed; the report still owns its elements */
static const json_t **sort_requests(const json_t *groups, size_t *n)
{
    const json_t **list = NULL, **more, *g, *r;
    size_t i, j;

    *n = 0;
    for (i = 0; (g = json_array_get(groups, i)) != NULL; i++) {
        const json_t *requests = json_object_get(g, "requests");

        more = realloc(list,
                       (*n + json_array_size(requests) + 1) * sizeof(json_t *));
        if (!more)
            break;
        list = more;
        for (j = 0; (r = json_array_get(requests, j)) != NULL; j++)
            list[(*n)++] = r;
    }
    if (list)
        qsort(list, *n, sizeof *list, compare);
    return list;
}

static void put_requests(FILE *out, const json_t *report)
{
    size_t n, i;
    const json_t **list = sort_requests(json_object_get(report, "groups"), &n);

    fprintf(out, "\n%9s %-8s %7s  %-15s %s\n", "AGE", "STATE", "PID", "CLIENT",
            "REQUEST");
    for (i = 0; i < n; i++) {
        const json_t *r = list[i];
        char pid[24] = "-";

        if (json_is_integer(json_object_get(r, "pid")))
            snprintf(pid, sizeof pid, "%lld",
                     (long long)values_number(r, "pid"));
        fprintf(out, "%7.1f s %-8s %7s  %-15s %s %s\n",
                json_number_value(json_object_get(r, "age")),
                values_text(r, "state"), pid, values_text(r, "client"),
                values_text(r, "method"), values_text(r, "uri"));
    }
    free(list);
}

static void put_pool(FILE *out, const top_reports_t *l)
{
    put_head(out, l);
    put_groups(out, l);
    put_suspended(out, json_object_get(l->now, "groups"));
    put_requests(out, l->now);
}

const top_view_t top_pool = {NULL, put_pool};

/* @return to be freed; NULL: no memory */
static char *compose(const top_reports_t *l, const top_view_t *view)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);

    if (!out)
        return NULL;
    view->put(out, l);
    return fclose(out) == 0 ? text : NULL;
}

/* The part of the report that this view is about. */
static const json_t *part_of(const top_reports_t *l, const top_view_t *view)
{
    return view->member ? json_object_get(l->now, view->member) : l->now;
}

/* ---- the loop ---- */

/* After the first report, a missing response is EXIT_OK, because the problem
 * may pass. */
static int ask_report(top_reports_t *l, const char *dir)
{
    json_t *o;
    int status = ask_status(dir, l->now != NULL, &o);

    if (status == 0 && !json_is_object(json_object_get(o, "pool"))) {
        status = EXIT_NO;
        if (!l->now)
            ask_complain_report(o);
    }
    l->trouble = status ? "the spawner does not respond any more" : NULL;
    if (status != 0) {
        json_decref(o);
        return l->now ? EXIT_OK : status;
    }
    json_decref(l->before);
    l->before = l->now;
    l->now = o;
    l->seconds = values_clock() - l->at;
    l->at += l->seconds;
    return EXIT_OK;
}

static int draw(top_reports_t *l, const top_view_t *view, int raw)
{
    char *text;
    int rv;

    l->columns = screen_taken ? terminal_size().ws_col : 0;
    text = raw ? json_dumps(part_of(l, view),
                            JSON_COMPACT | JSON_ENCODE_ANY | APL_REPORT_REALS)
               : compose(l, view);
    if (!text)
        return ask_complain(EXIT_NO, "there is not enough memory");
    if (raw)
        rv = puts(text) < 0 || fflush(stdout) != 0 ? -1 : 0;
    else
        rv = terminal_draw(text);
    free(text);
    return rv == 0 ? EXIT_OK
                   : ask_complain(EXIT_NO, "the output cannot be written: %s",
                                  strerror(errno));
}

int top_show(const char *dir, const top_view_t *view, int raw, int delay,
             long times)
{
    top_reports_t l = {.now = NULL};
    int status = ask_report(&l, dir);
    long n = 1;

    if (status != EXIT_OK)
        return status;
    if (!raw)
        terminal_begin();
    status = draw(&l, view, raw);
    while (status == EXIT_OK && (times == 0 || n < times) &&
           !terminal_wait(delay)) {
        n++;
        status = ask_report(&l, dir);
        if (status == EXIT_OK)
            status = draw(&l, view, raw);
    }
    json_decref(l.now);
    json_decref(l.before);
    return status;
}
