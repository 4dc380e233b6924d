# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Which file of the store may take which lock, and what may be called under it
(ARCHITECTURE: locks are taken in one order). A call is followed through all
functions of the store, except one by a pointer."""
import re
from typing import Iterator

from source import c_files, code, name

# Each lock: what takes it, what gives it back, and who may take it.
LOCKS = {
    "a bucket": (
        r"store_index_lock|store_table_lock",
        r"store_index_unlock|store_table_unlock",
        r"store/memory/(item|evict)\.c"
        r"|store/protocol/\w+\.c|store/cluster/\w+\.c"
        r"|store/server/snapshot_load\.c"),
    "the chunks": (
        "store_chunk_lock", "store_chunk_unlock",
        r"store/memory/(item|evict|sweeper)\.c"
        r"|store/protocol/stats\.c"),
    "the spaces": (
        "store_sweeper_thread_lock", "store_sweeper_thread_unlock",
        r"store/server/(saver|spaces|sweeper_thread)\.c"),
    "a mutex": (
        "pthread_mutex_lock|pthread_mutex_trylock", "pthread_mutex_unlock",
        r"store/memory/(table|chunk|changes|space)\.c"
        r"|store/cluster/(store_claim|confirm|history)\.c"
        r"|store/server/(handover|waiting_clients|password|saver|sweeper_thread|spaces|worker)\.c"),
}
# Under the lock of a bucket or of the chunks: nothing that may wait, and nothing
# that needs a lock which another thread may have meanwhile.
SLOW = (r"malloc|calloc|realloc|free|mmap|munmap|madvise|open|close|read|write"
        r"|pread|pwrite|send|sendmsg|recv|poll|fallocate|posix_fallocate"
        r"|store_note|snprintf|pthread_cond_\w+"
        r"|store_item_make|store_sweeper_thread_lock")
BUCKET = LOCKS["a bucket"][0]
# A value that was replaced is given back under the lock of its bucket.
CHUNKS = LOCKS["the chunks"][0]

# These give the lock of the chunks back for a moment, and take it again. The last
# one takes a bucket meanwhile.
GIVES_BACK = ("empty", "give_way")

FUNCTION = re.compile(r"^[a-z][\w \*]*?\b(\w+)\(([^;{}]*)\)\n\{\n(.*?)^\}",
                      re.M | re.S)
Place = tuple[str, str]  # file, function


def functions() -> dict[Place, str]:
    return {(name(path), match[1]): match[3]
            for path in c_files("store") if path.suffix in (".c", ".h")
            for match in FUNCTION.finditer(code(path))}


BODIES = functions()
PUBLIC = {function: (file, function) for file, function in BODIES}


def calls(file: str, text: str) -> Iterator[tuple[str, Place]]:
    """Each name that is called, and where its body is."""
    for called in set(re.findall(r"\b(\w+)\(", text)):
        own = file, called
        yield called, own if own in BODIES else PUBLIC.get(called, ("", called))


def reached(file: str, text: str, wrong: str,
            way: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """The ways from this text to a function whose name is wrong."""
    found = []
    for called, place in calls(file, text):
        if re.fullmatch(wrong, called):
            found.append((*way, called))
        elif place in BODIES and called not in way:
            found += reached(place[0], BODIES[place], wrong, (*way, called))
    return found


def regions(lock: str) -> Iterator[tuple[Place, str]]:
    """The parts of functions between taking a lock and giving it back."""
    take, give, _ = LOCKS[lock]
    for place, body in BODIES.items():
        for match in re.finditer(rf"\b(?:{take})\(.*?\b(?:{give})\(", body,
                                 re.S):
            yield place, match[0].partition("(")[2].rpartition("(")[0]


def strip(text: str, lock: str) -> str:
    return re.sub(rf"\b(?:{LOCKS[lock][1]})\b", "", text)


def wrong_under(lock: str, wrong: str) -> dict[str, list[tuple[str, ...]]]:
    bad = {f"{file} {function}": ways
           for (file, function), text in regions(lock)
           if (ways := reached(file, strip(text, lock), wrong))}
    return bad


def gives_back(way: tuple[str, ...]) -> bool:
    """Is the last of these calls made without the lock of the chunks?"""
    return way[-2] in GIVES_BACK


def test_who_takes_which() -> None:
    for lock, (take, _, who) in LOCKS.items():
        takers = {file for (file, function), body in BODIES.items()
                  if re.search(rf"\b(?:{take})\(", body)
                  and not re.fullmatch(take, function)
                  or lock == "a mutex" and re.search(rf"\b(?:{take})\(", body)}
        assert {file for file in takers if not re.fullmatch(who, file)} == \
            set(), lock
        assert takers, lock


def test_under_a_bucket() -> None:
    """One bucket at a time, and then at most the chunks."""
    assert len(list(regions("a bucket"))) > 10
    assert wrong_under("a bucket", f"{BUCKET}|{SLOW}") == {}


def test_under_the_chunks() -> None:
    """A bucket is only tried: who has it may wait for the chunks."""
    assert len(list(regions("the chunks"))) > 5
    assert wrong_under("the chunks", SLOW) == {}
    for lock in (BUCKET, CHUNKS):
        again = wrong_under("the chunks", lock)
        assert {way for ways in again.values() for way in ways
                if not gives_back(("", *way))} == set()


def test_with_the_chunks() -> None:
    """The same of the files whose caller has that lock. A recovery is alone and
    needs none."""
    for file in ("chunk", "evict"):
        path = f"store/memory/{file}.c"
        bodies = {function: body for (where, function), body in BODIES.items()
                  if where == path and not re.fullmatch(
                      r"store_chunk_(make|free|lock|unlock)"
                      r"|store_chunk_found\w*|found_page", function)}
        assert bodies, path
        for function, body in bodies.items():
            assert reached(path, body, SLOW) == [], path
            assert {way for way in reached(path, body, f"{BUCKET}|{CHUNKS}")
                    if not gives_back((function, *way))} == set(), path


def test_under_the_list_of_changes() -> None:
    """It is taken under a bucket. Nothing is taken under it. The list itself is
    made and freed under it, when the first slave joins and the last one leaves.
    The bell of a reader has another lock.
    """
    text = [text for (file, function), text in regions("a mutex")
            if file == "store/memory/changes.c"
            and function not in ("store_changes_open", "store_changes_close",
                                 "ring_bell")]
    assert text
    for region in text:
        assert reached("store/memory/changes.c", strip(region, "a mutex"),
                       f"{BUCKET}|{CHUNKS}|pthread_mutex_lock|{SLOW}") == []


def test_under_the_slaves_that_confirm() -> None:
    """Each worker that holds a reply takes it, and each feeder at each echo."""
    text = [text for (file, _), text in regions("a mutex")
            if file == "store/cluster/confirm.c"]
    assert text
    for region in text:
        assert reached("store/cluster/confirm.c", strip(region, "a mutex"),
                       f"{BUCKET}|{CHUNKS}|pthread_mutex_lock|{SLOW}") == []


def test_the_test_follows_calls() -> None:
    """store_index_put() gives the old item back, which takes the chunks."""
    ways = reached("", "store_index_put(", CHUNKS)
    assert any(way[0] == "store_index_put" and
               way[-2:] == ("store_item_release", "store_chunk_lock")
               for way in ways)
