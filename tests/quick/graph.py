# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Which unit tests depend on a file, by the includes of the source.

x.c and x.h are one part. A unit test depends on a part if it includes the
header of that part, or of another part that depends on it. So the includes are
enough, and no build is needed. They name nearly all tests that link the part,
and some that use no more than a constant of a header. What a test replaces by
--wrap may have no include.

The first tests are named after the part (unit/hung_extra after shm/slots/hung).
The others follow in the order of their distance, which is the number of steps
from header to header. At the same distance, those come first that use more
functions of parts that depend on the change. The last ones use none of
these."""
import re


def part(file: str) -> str:
    return file.rpartition(".")[0]


def is_named_after(test: str, file: str) -> bool:
    folder, _, stem = part(file).rpartition("/")
    of = {"store": "store_", "ctl": "ctl_"}.get(folder.partition("/")[0], "")
    return f"{test}_".startswith(f"tests/unit/{of}{stem.removeprefix(of)}_")


class Graph:
    def __init__(self, texts: dict[str, str]) -> None:
        """All .c and .h files with their code, without comments."""
        self.texts = texts
        self.words = {file: set(re.findall(r"\w+", text))
                      for file, text in texts.items()
                      if file.startswith("tests/unit/")}
        self.users: dict[str, set[str]] = {}
        for file, text in texts.items():
            for header in self.includes(text):
                self.users.setdefault(part(header), set()).add(part(file))

    @staticmethod
    def includes(text: str) -> list[str]:
        return re.findall(r'^\s*#\s*include\s+"([^"]+)"', text, re.M)

    def functions(self, file: str) -> set[str]:
        """What the file declares or defines for others. They begin a line."""
        return set(re.findall(r"^(?!static\b)\w[^;{}()\n]*?\b(\w+)\(",
                              self.texts.get(file, ""), re.M))

    def parts(self, file: str) -> set[str]:
        """Its own part; for a .c file without a header, those whose headers
        declare its functions."""
        if file.endswith(".h") or part(file) + ".h" in self.texts:
            return {part(file)}
        return {part(file)} | {
            part(header) for header in self.includes(self.texts.get(file, ""))
            if self.functions(file) & self.functions(header)}

    def distances(self, file: str) -> dict[str, int]:
        """All parts that depend on the file."""
        far = {one: 0 for one in self.parts(file)}
        todo = list(far)
        for one in todo:  # which grows
            for user in self.users.get(one, set()) - far.keys():
                far[user] = far[one] + 1
                todo.append(user)
        return far

    def nearest(self, files: list[str], tests: list[str]) -> list[str]:
        """The tests that depend on one of the files, in the order above."""
        keys: dict[str, tuple[bool, bool, int, int, str]] = {}
        for file in files:
            far = self.distances(file)
            known = set().union(*(self.functions(one + ".h") for one in far))
            for test in tests:
                if test in far:
                    uses = len(known & self.words[f"{test}.c"])
                    key = (not is_named_after(test, file),
                           far[test] > 0 and uses == 0, far[test], -uses, test)
                    keys[test] = min(key, keys.get(test, key))
        return sorted(keys, key=keys.__getitem__)
