# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The same random commands to two servers. A case is made from a number. It has
some episodes, each with a connection of its own. After each episode the cas
values of all keys are asked for, so that commands of the next one can name
them, and what the servers hold is compared as well."""
from random import Random
from typing import Callable, NamedTuple, Optional

from harness import binary_commands, meta_commands, text_commands
from harness import replies as parse
from harness.commands import CasOf, Command
from harness.exchange import exchange
from harness.keys import SURVEYED
from harness.servers import Server

EPISODES = 4
# The end of an episode. memcached forgets the replies that wait if a connection
# ends in the middle of a data block, so this completes the block.
FILLER = b"mn\r\n" * 60
Reply = parse.Reply


def _mixed(random: Random) -> Command:
    return random.choice([text_commands, meta_commands]).command(random)


PROTOCOLS: dict[str, tuple[Callable[[Random], Command],
                           Callable[[bytes], list[Reply]]]] = {
    "text": (text_commands.command, parse.text),
    "meta": (meta_commands.command, parse.text),
    "mixed": (_mixed, parse.text),
    "binary": (binary_commands.command, parse.binary)}


class Step(NamedTuple):
    episode: int
    protocol: str
    command: Command


class Difference(NamedTuple):
    episode: int
    what: str
    ours: str
    reference: str

    def __str__(self) -> str:
        return f"episode {self.episode}, {self.what}:\n" \
            f"  reference: {self.reference}\n  tested:    {self.ours}"


def case(protocol: str, number: int, length: int) -> list[Step]:
    """The commands of a case; the same number gives the same ones. Three
    episodes of a mixed case are text, and one is binary."""
    random = Random(f"{protocol} {number}")
    steps = []
    for n in range(length):
        episode = n * EPISODES // length
        kind = "binary" if protocol == "mixed" and episode == 1 else protocol
        steps.append(Step(episode, kind, PROTOCOLS[kind][0](random)))
    return steps


def cut(data: bytes, random: Optional[Random]) -> list[bytes]:
    """Pieces of any size. With None, all at once."""
    if random is None or not data:
        return [data]
    n = random.randrange(1, 30)
    places = sorted({0, len(data), *(random.randrange(len(data))
                                     for _ in range(n))})
    return [data[a:b] for a, b in zip(places, places[1:])]


def survey(server: Server) -> tuple[list[Reply], dict[bytes, int]]:
    """What it holds, and the cas value of each key. Without h: an incr of the
    binary protocol may lose that bit (text_commands.FLUSH)."""
    lines = [b"mg %s k v f s c t\r\n" % key for key in SURVEYED]
    found = parse.text(exchange(server.connect(), [b"".join(lines)]))
    cas = {}
    for reply in found:
        values = [part.value for part in reply if isinstance(part, parse.Cas)]
        keys = [part[1:] for part in reply
                if isinstance(part, bytes) and part[:1] == b"k"]
        if values and keys:
            cas[keys[0]] = values[0]
    return found, cas


class Play:
    """Plays the steps of a case on one server, episode by episode."""

    def __init__(self, server: Server, steps: list[Step],
                 pieces: Optional[int]) -> None:
        self.server, self.steps = server, steps
        self.random = None if pieces is None else Random(pieces)
        self.cas: dict[bytes, int] = {}
        exchange(server.connect(), [b"flush_all\r\n"])

    def episode(self, number: int) -> list[Reply]:
        steps = [step for step in self.steps if step.episode == number]
        if not steps:
            return []
        data = b"".join(
            part.bytes(self.cas) if isinstance(part, CasOf) else part
            for step in steps for part in step.command)
        if steps[0].protocol != "binary":
            data += FILLER
        received = exchange(self.server.connect(), cut(data, self.random))
        return PROTOCOLS[steps[0].protocol][1](received)

    def survey(self) -> list[Reply]:
        found, self.cas = survey(self.server)
        return found


def first_difference(equal: parse.Equality, ours: list[Reply],
                     reference: list[Reply]) -> Optional[tuple[int, str, str]]:
    for n in range(max(len(ours), len(reference))):
        if n >= len(ours) or n >= len(reference):
            return n, *(parse.show(side[n]) if n < len(side) else "(nothing)"
                        for side in (ours, reference))  # type: ignore
        if not equal.replies(ours[n], reference[n]):
            return n, parse.show(ours[n]), parse.show(reference[n])
    return None


def compare(ours: Server, reference: Server, steps: list[Step],
            pieces: Optional[int] = None) -> Optional[Difference]:
    """Play the steps on both. The pieces of ours are cut by that number."""
    equal = parse.Equality()
    known = Play(reference, steps, None)
    n = 0
    try:
        tested = Play(ours, steps, pieces)
        for n in range(EPISODES):
            for what, played, wanted in (
                    ("reply", tested.episode(n), known.episode(n)),
                    ("state", tested.survey(), known.survey())):
                found = first_difference(equal, played, wanted)
                if found:
                    return Difference(n, f"{what} {found[0]}", *found[1:])
    except (OSError, AssertionError) as error:
        return Difference(n, "the end of the server, perhaps",
                          f"{error!r} {ours.output()}", "")
    return None


def reduce(steps: list[Step], differs: Callable[[list[Step]], bool],
           ) -> list[Step]:
    """The shortest list that still differs, of which no step can be left
    out."""
    size = len(steps) // 2
    while size:
        at = 0
        while at < len(steps):
            fewer = steps[:at] + steps[at + size:]
            if fewer and differs(fewer):
                steps = fewer
            else:
                at += size
        size = size // 2 if size > 1 else 0
    return steps


def report(ours: Server, reference: Server, steps: list[Step],
           pieces: Optional[int]) -> str:
    """A case that differs, reduced: the commands, and both replies. The servers
    begin anew each time."""
    found: list[Difference] = []

    def differs(fewer: list[Step]) -> bool:
        ours.again()
        reference.again()
        difference = compare(ours, reference, fewer, pieces)
        if difference:
            found.append(difference)
        return difference is not None

    if not differs(steps):
        return "not seen again with servers that are new"
    shortest = reduce(steps, differs)
    lines = [f"{len(shortest)} of {len(steps)} commands differ, {found[-1]}"]
    for step in shortest:
        parts = [f"<cas of {part.key!r} {part.plus:+d}>"
                 if isinstance(part, CasOf) else
                 repr(part if len(part) < 400 else part[:100] + b"...")[2:-1]
                 for part in step.command]
        lines.append(f"  {step.episode} {step.protocol}: {''.join(parts)}")
    return "\n".join(lines)
