/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "ctl/terminal.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#define WITH_CTRL(letter) ((letter)&0x1f)

/* Switch to the second screen. The first one comes back at the end. */
#define ENTER             "\033[?1049h\033[?25l"
#define LEAVE             "\033[?25h\033[?1049l"

static struct termios before;
static int screen_taken, keys_taken;
static volatile sig_atomic_t ended;

/* ---- begin and end ---- */

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
        tcsetattr(STDIN_FILENO, TCSANOW, &before);
}

static void take_keys(void)
{
    struct termios now;

    if (!isatty(STDIN_FILENO) || tcgetattr(STDIN_FILENO, &before) != 0)
        return;
    now = before;
    now.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG);
    now.c_cc[VMIN] = 1;
    now.c_cc[VTIME] = 0;
    keys_taken = tcsetattr(STDIN_FILENO, TCSANOW, &now) == 0;
}

void terminal_begin(void)
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

/* ---- drawing ---- */

/* The number of bytes that the first `columns` characters of the line take. */
static int cut(const char *line, size_t length, int columns)
{
    size_t i;

    for (i = 0; i < length; i++)
        if (((unsigned char)line[i] & 0xc0) != 0x80 && columns-- == 0)
            break;
    return (int)i;
}

int terminal_draw(const char *screen)
{
    struct winsize size = {.ws_row = 24, .ws_col = 80};
    int row;

    if (!screen_taken) {
        fputs(screen, stdout);
        return fflush(stdout) == 0 && !ferror(stdout) ? 0 : -1;
    }
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 ||
        size.ws_col == 0)
        size = (struct winsize){.ws_row = 24, .ws_col = 80};
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

int terminal_wait(int milliseconds)
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
