/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The meta commands. The expected replies are those of memcached 1.6.18. */

#include "tests/unit/support/wire.h"

#include <stdio.h>
#include <string.h>

static void fetching(void **state)
{
    wire_t w;

    (void)state;
    wire_open(&w, 16);
    wire_expect(&w, "mg a\r\nmg a k Oxy\r\nmg a q\r\nmn\r\n",
                "EN\r\nEN ka Oxy\r\nMN\r\n");
    wire_expect(&w, "set a 5 100 3\r\nabc\r\nmg a h\r\nmg a h\r\nmg a\r\n",
                "STORED\r\nHD h0\r\nHD h1\r\nHD\r\n");
    wire_expect(&w, "mg a s v f t k q O123\r\n",
                "VA 3 s3 f5 t100 ka O123\r\nabc\r\n");
    wire_expect(&w, "mg a t T50 t\r\nmg a T50\r\nmg a t T0\r\nmg a t\r\n",
                "CLIENT_ERROR duplicate flag\r\nHD\r\nHD t50\r\nHD t-1\r\n");
    wire_expect(&w, "mg a Z\r\nmg a Tx\r\nmg a Fx\r\nmg\r\nmx\r\n",
                "CLIENT_ERROR invalid flag\r\n"
                "CLIENT_ERROR bad token in command line format\r\n"
                "CLIENT_ERROR bad command line format\r\nERROR\r\nERROR\r\n");
    /* memcached 1.6.38 knows these two; doc/store.md says that we do not. */
    wire_expect(&w, "mg a E5\r\nmg a x\r\n",
                "CLIENT_ERROR invalid flag\r\nCLIENT_ERROR invalid flag\r\n");
    wire_expect(&w, "mg a O23456789012345678901234567890123\r\n",
                "CLIENT_ERROR opaque token too long\r\n");
    wire_close(&w);
}

static void winning(void **state)
{
    wire_t w;

    (void)state;
    wire_open(&w, 16);
    wire_expect(&w, "mg v N100 t v\r\nmg v N100 t v\r\n",
                "VA 0 t100 W\r\n\r\nVA 0 t100 Z\r\n\r\n");
    wire_expect(&w, "ms v 3\r\nabc\r\nmg v N100 v\r\n",
                "HD\r\nVA 3\r\nabc\r\n");
    wire_expect(&w,
                "ms r 1 T100\r\n1\r\nmg r R50\r\nmg r R150\r\nmg r R150\r\n",
                "HD\r\nHD\r\nHD W\r\nHD Z\r\n");
    /* The first client that gets the stale item renews it. */
    wire_expect(&w, "ms s 3\r\nabc\r\nmd s I T30\r\nmg s v t\r\nmg s v\r\n",
                "HD\r\nHD\r\nVA 3 t30 X W\r\nabc\r\nVA 3 Z X\r\nabc\r\n");
    /* A value that is older than the mark is stored, and stays stale. */
    wire_expect(&w, "ms s 3 I C1 T500\r\nold\r\nmg s v t\r\n",
                "HD\r\nVA 3 t30 Z X\r\nold\r\n");
    wire_expect(&w, "ms s 3 T90\r\nnew\r\nmg s v t\r\n",
                "HD\r\nVA 3 t90\r\nnew\r\n");
    wire_close(&w);
}

static void storing(void **state)
{
    wire_t w;
    unsigned long cas;
    char line[80];

    (void)state;
    wire_open(&w, 16);
    wire_expect(&w, "ms a 3 T100 F7 k O9\r\nabc\r\nmg a v t f\r\n",
                "HD ka O9\r\nVA 3 t100 f7\r\nabc\r\n");
    wire_expect(&w, "ms a 3 q\r\nabc\r\nms a 3 q\r\nabcde\r\n",
                "CLIENT_ERROR bad data chunk\r\nERROR\r\n");
    wire_expect(&w,
                "ms a 1 ME\r\n1\r\nms a 1 MA\r\n+\r\nms a 1 MP\r\n-\r\n"
                "mg a v\r\nms a 1 MR\r\n1\r\nms b 1 MR q k\r\n1\r\n",
                "NS\r\nHD\r\nHD\r\nVA 5\r\n-abc+\r\nHD\r\nNS kb\r\n");
    /* The value after an error is swallowed. */
    wire_expect(
        &w, "ms a 3 MX\r\nabc\r\nms a 3 Mee\r\nabc\r\nms a 3 v v\r\nabc\r\n",
        "CLIENT_ERROR invalid mode for ms M token\r\n"
        "CLIENT_ERROR incorrect length for M token\r\n"
        "CLIENT_ERROR duplicate flag\r\n");
    wire_expect(&w, "ms a x\r\nms a -1\r\nms a\r\nms\r\n",
                "CLIENT_ERROR bad command line format\r\n"
                "CLIENT_ERROR bad command line format\r\n"
                "CLIENT_ERROR bad command line format\r\nERROR\r\n");
    assert_int_equal(sscanf(wire_ask(&w, "mg a c\r\n"), "HD c%lu", &cas), 1);
    snprintf(line, sizeof line, "ms a 1 C%lu\r\n1\r\n", cas + 1);
    wire_expect(&w, line, "EX\r\n");
    snprintf(line, sizeof line, "ms a 1 C%lu c\r\n1\r\n", cas);
    assert_int_equal(sscanf(wire_ask(&w, line), "HD c%lu", &cas), 1);
    wire_expect(&w, "ms b 1 C1 c\r\n1\r\n", "NF c0\r\n");
    wire_close(&w);
}

static void deleting(void **state)
{
    wire_t w;

    (void)state;
    wire_open(&w, 16);
    wire_expect(&w,
                "ms a 1\r\n1\r\nmd a C999\r\nmd a k O1\r\nmd a\r\nmd a q\r\n",
                "HD\r\nEX\r\nHD ka O1\r\nNF\r\nNF\r\n");
    wire_expect(&w, "ms a 1\r\n1\r\nmd a q\r\nmd a Z\r\n",
                "HD\r\nCLIENT_ERROR invalid or duplicate flag\r\n");
    wire_close(&w);
}

static void counting(void **state)
{
    wire_t w;

    (void)state;
    wire_open(&w, 16);
    wire_expect(&w, "ma n\r\nma n N0 J13 v t\r\nma n v\r\nma n v MD D10\r\n",
                "NF\r\nVA 2 t-1\r\n13\r\nVA 2\r\n14\r\nVA 1\r\n4\r\n");
    wire_expect(&w, "ma n q\r\nma n v M- D100\r\nmg n v\r\nma n C99\r\n",
                "VA 1\r\n0\r\nVA 2\r\n0 \r\nEX\r\n");
    wire_expect(&w, "ma n T40 t k O1\r\nma n MX\r\nma n Dx\r\n",
                "HD t40 kn O1\r\nCLIENT_ERROR invalid mode for ma M token\r\n"
                "CLIENT_ERROR invalid or duplicate flag\r\n");
    wire_expect(&w, "ms n 1\r\nx\r\nma n q\r\n",
                "HD\r\nCLIENT_ERROR cannot increment or decrement "
                "non-numeric value\r\n");
    wire_close(&w);
}

static void binary_keys(void **state)
{
    wire_t w;

    (void)state;
    wire_open(&w, 16);
    wire_expect(&w, "ms Zm9v 3 b k\r\nabc\r\nmg Zm9v b k v\r\nmg foo k\r\n",
                "HD kZm9v b\r\nVA 3 kZm9v b\r\nabc\r\nHD kZm9v b\r\n");
    wire_expect(&w, "mg ==== b\r\nmg Zm8 b\r\nmg Zm8= b k\r\nmg Zg== b k\r\n",
                "CLIENT_ERROR error decoding key\r\n"
                "CLIENT_ERROR error decoding key\r\nEN kZm8= b\r\n"
                "EN kZg== b\r\n");
    /* A key with a line feed never ends an answer, whatever made its item. */
    wire_expect(&w,
                "mg YQpi b N0 k\r\nmg YQpi b k\r\nms YQpi 1 b MA\r\n1\r\n"
                "mg YQpi b k\r\nma YQpi b D99 k\r\nmg YQpi b k\r\n",
                "HD kYQpi b W\r\nHD kYQpi b Z\r\nHD\r\nHD kYQpi b\r\n"
                "HD kYQpi b\r\nHD kYQpi b\r\n");
    wire_close(&w);
}

static void debugging(void **state)
{
    wire_t w;

    (void)state;
    wire_open(&w, 16);
    wire_expect(&w, "me a\r\nme\r\nset a 0 100 1\r\n1\r\n",
                "EN\r\nCLIENT_ERROR bad command line format\r\nSTORED\r\n");
    assert_memory_equal(wire_ask(&w, "me a\r\n"),
                        "ME a exp=-100 la=0 cas=", 23);
    wire_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fetching),  cmocka_unit_test(winning),
        cmocka_unit_test(storing),   cmocka_unit_test(deleting),
        cmocka_unit_test(counting),  cmocka_unit_test(binary_keys),
        cmocka_unit_test(debugging),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
