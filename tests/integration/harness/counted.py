# Licensed under the Apache License, Version 2.0; see LICENSE.
"""What the processes of apps/wsgi/work.py have counted and kept in the store,
and what the store has in the end: do these agree, whoever was killed?

An acknowledged value must stay. A command without an answer may have been done
or not."""
import socket
from pathlib import Path
from typing import Iterator, NamedTuple

AT_ONCE = 50  # keys of one command


class Count(NamedTuple):
    """A number that the store gave to a process."""
    asked: float
    got: float
    value: int


class Counted:
    def __init__(self, directory: Path, final: int,
                 held: dict[str, str]) -> None:
        """
        @param directory the notes of the processes
        @param final the counter in the end
        @param held what the store holds, by key
        """
        self.counts: list[Count] = []
        self.asked = 0
        self.none = 0  # answers that there is no counter
        self.kept: list[str] = []
        self.lost: list[str] = []
        self.wrong: list[str] = []
        for path in directory.iterdir():
            self.read(path)
        self.check_counter(final)
        for key in self.kept:
            if held.get(key) != key * 10:
                self.lost.append(f"{key}: the store has {held.get(key)!r}")

    def read(self, path: Path) -> None:
        asked = 0.0
        for line in path.read_text().splitlines():
            word, when, text = line.split()
            if word == "asks":
                self.asked += 1
                asked = float(when)
            elif word == "none":
                self.none += 1
            elif word == "counted":
                self.counts.append(Count(asked, float(when), int(text)))
            elif word == "kept":
                self.kept.append(text)
            else:
                self.lost.append(f"{path.name}: {line}")

    def check_counter(self, final: int) -> None:
        """No number was given twice, and who asks later gets a higher one."""
        if not len(self.counts) <= final <= self.asked - self.none:
            self.lost.append(f"the counter is {final}, after {self.asked} "
                             f"commands and {len(self.counts)} answers")
        by_end = sorted(self.counts, key=lambda count: count.got)
        done = highest = 0
        for count in sorted(self.counts):
            while done < len(by_end) and by_end[done].got < count.asked:
                highest = max(highest, by_end[done].value)
                done += 1
            if count.value <= highest:
                self.lost.append(f"{count}, but {highest} came before")
        if len({count.value for count in self.counts}) < len(self.counts):
            self.wrong.append("the counter gave a number twice")
        if any(count.value > final for count in self.counts):
            self.lost.append(f"the counter is {final}, but was higher")

    def summary(self) -> str:
        open_ones = self.asked - self.none - len(self.counts)
        return (f"store: {len(self.counts)} numbers counted, {open_ones} "
                f"commands without an answer, {len(self.kept)} values kept; "
                f"{len(self.lost)} lost, {len(self.wrong)} wrong")


def keys_of(directory: Path) -> Iterator[str]:
    for path in directory.iterdir():
        for line in path.read_text().splitlines():
            if line.startswith("kept "):
                yield line.split()[2]


def held_by(place: Path, keys: list[str]) -> dict[str, str]:
    """What the store at this socket has under these keys."""
    found = {}
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(20)
        client.connect(str(place))
        with client.makefile("rb") as stream:
            for at in range(0, len(keys), AT_ONCE):
                words = " ".join(keys[at:at + AT_ONCE])
                client.sendall(f"get {words}\r\n".encode())
                while (line := stream.readline().decode().split()) != ["END"]:
                    assert line[0] == "VALUE", line
                    found[line[1]] = stream.read(int(line[3])).decode()
                    stream.readline()
    return found


def counted(directory: Path, place: Path) -> Counted:
    """
    @param directory the notes of the processes
    @param place the socket of the space
    """
    held = held_by(place, ["counter", *keys_of(directory)])
    return Counted(directory, int(held.get("counter", "0")), held)
