/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "tests/unit/support/conversations.h"

static const char text[] =
    "set a 1 0 3\r\nabc\r\nget a b a\r\ngets a\r\nadd a 0 0 1 noreply\r\nx\r\n"
    "append a 0 0 2\r\nde\r\nprepend a 0 0 1\r\n_\r\nget a\r\n"
    "set n 0 0 2\r\n10\r\ndecr n 1\r\nincr n 100\r\nincr n x\r\nget n\r\n"
    "cas a 0 0 1 99\r\nq\r\ntouch a 100\r\ngat 0 a n\r\ndelete a\r\n"
    "set a 0 0 2\r\nabcdef\r\nset a x 0 1\r\n1\r\nset e 0 0 0\r\n\r\nget e\r\n"
    "set a 0 0 2000000\r\n";

static const char meta[] =
    "ms a 3 T100 F5 k O1 c\r\nabc\r\nmg a v f k s\r\nmg Zm9v b k N0\r\n"
    "ma n N0 J7 v\r\nma n v D3\r\nms a 2 MA q\r\nde\r\nmd a I T30\r\nmg a v\r\n"
    "mg a q k\r\nms a 3 x\r\nxyz\r\nmd a q\r\nmg a q\r\nmn\r\nme a\r\n"
    "ms b 4\r\nabcdef\r\nmg a Oxyz k\r\n";

#define HEAD(op, klen, elen, body)                                             \
    "\x80" op "\0" klen elen "\0\0\0\0\0\0" body "opaq\0\0\0\0\0\0\0\0"

static const char binary[] =
    /* set, get, getk, getq of nothing, setq, append, incr, delete, noop */
    HEAD("\x01", "\x01", "\x08", "\x0c") "\0\0\0\x05\0\0\0\0kabc" HEAD("\0", "\x01", "\0", "\x01") "k" HEAD("\x0c", "\x01", "\0", "\x01") "k" HEAD(
        "\x09", "\x01", "\0",
        "\x01") "z" HEAD("\x11", "\x01", "\x08",
                         "\x09") "\0\0\0\0\0\0\0\0"
                                 "e" HEAD(
                                     "\x0e", "\x01", "\0",
                                     "\x03") "kd"
                                             "e" HEAD(
                                                 "\x05", "\x01", "\x14",
                                                 "\x15") "\0\0\0\0\0"
                                                         "\0\0\x01\0"
                                                         "\0\0\0\0\0"
                                                         "\0\x09\0\0"
                                                         "\0\0"
                                                         "n" HEAD("\x1d", "\x01", "\x04", "\x05") "\0\0\0\x64k" HEAD(
                                                             "\x04", "\x01",
                                                             "\0",
                                                             "\x01") "k" HEAD("\x55",
                                                                              "\x01",
                                                                              "\0",
                                                                              "\x04") "kxyz" HEAD("\x0a",
                                                                                                  "\0",
                                                                                                  "\0",
                                                                                                  "\0")
                                                             HEAD("\x07", "\0",
                                                                  "\0", "\0");

/* What is no command, and what ends. */
static const char wrong[] = "\r\n\nfoo\r\nget\r\nset a\r\nmg\r\nmx\r\nincr\r\n"
                            "get a\0b\r\ndelete a 1\r\nflush_all x\r\n"
                            "verbosity 1\r\nstats foo\r\nquit\r\n";

static const char locks[] =
    "lock a\r\nset a 0 0 1\r\n1\r\nlock a\r\nlock a\r\nset a 0 0 1\r\n2\r\n"
    "incr a 1\r\nunlock a\r\nunlock a\r\nlock a\r\ndelete a\r\nunlock_all\r\n"
    "lock\r\nunlock a b\r\nkeys\r\nkeys a\r\nlock a\r\nquit\r\n";

const conversation_t conversations[CONVERSATIONS] = {
    {text, sizeof text - 1},     {meta, sizeof meta - 1},
    {binary, sizeof binary - 1}, {wrong, sizeof wrong - 1},
    {locks, sizeof locks - 1},
};
