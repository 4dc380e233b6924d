# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The keys of random commands: few, so that commands meet the same ones."""
import base64

KEYS = [b"k1", b"k2", b"k3", b"k4", b"a/longer:key.with-signs", b"x" * 250]
# Keys that incr, decr and ma may change. If a number grows, memcached makes a
# new item, without the bits of the old one (stale, fetched); ours keeps them. So
# no other command asks for these bits of these keys.
COUNTERS = [b"n1", b"n2", b"n3"]
ODD_KEYS = [b"\x01", b"caf\xc3\xa9", b"\xff", b"0", b"get", b"with\0zero"]
TOO_LONG = [b"y" * 251, b"z" * 300]
BAD_KEYS = TOO_LONG + ODD_KEYS
# For the flag b of meta commands. A key that also is in text has a test of its
# own: memcached forgets in some commands that it was in base64.
BASE64 = [base64.b64encode(raw) for raw in
          (b"\x00\x01\x02", b"a b c", b"\x7f\xff", b"q" * 187)]
BAD_BASE64 = [b"====", b"a", b"!!!!", b"YWJj=", base64.b64encode(b"w" * 251)]
# A survey looks at these.
SURVEYED = KEYS + COUNTERS + [b"0", b"get", b"caf\xc3\xa9", b"\x01"]
