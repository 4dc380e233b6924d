#!/usr/bin/env python3
# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The facts of each directive in doc/directives.md: syntax, context, default and
range, from its row in base/settings.def.

    tests/source/directives.py             what is missing
    tests/source/directives.py --write     write it

What a row does not say is written by hand: the syntax of a text, a default with
a rule, and anything behind a default or a range."""
import re
import sys
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Iterator

from source import TOP, c_files, code

ROWS = TOP / "base" / "settings.def"
MANUAL = TOP / "doc" / "directives.md"

ARGUMENTS = {"SWITCH": "On|Off", "TIME": "TIME", "NUMBER": "N", "SIZE": "SIZE"}
CONTEXTS = {"SERVER": "server config", "STATUS": "directory"}
FACTS = ("Syntax", "Context", "Default", "Range")
UNITS = {"SEC": lambda n: n, "KB": lambda n: n << 10, "MB": lambda n: n << 20,
         "GB": lambda n: n << 30, "DAY": 86400, "YEAR": 365 * 86400}


@dataclass
class Row:
    scope: str
    kind: str
    name: str
    group: str
    otherwise: Any  # None: it has a rule
    least: int
    most: int
    zero: str  # what 0 means, or the words
    key: str  # in the app table
    help: str
    is_own: bool

    def values(self) -> int:
        return len([row for row in rows()
                    if row.name.partition("_")[0] == self.name])


@lru_cache(maxsize=None)
def constants() -> dict[str, Any]:
    """What the rows name: units, and numbers of headers."""
    found: dict[str, Any] = {
        **UNITS, "NULL": None, "RULE": None, "ANY": (0, 0, None),
        "NOT_NONE": (1, 0, None), "WORDS": lambda words: (0, 0, words),
        "RANGE": lambda *limits: limits}
    for path in c_files("base", "shm", "mod_apppool/config"):
        text = code(path)
        found.update((name, int(number)) for name, number in re.findall(
            r"^#define (\w+) +(\d+) *$", text, re.M))
        for names in re.findall(r"enum \{([^={}]*)\}", text):
            found.update((name.strip(), number) for number, name
                         in enumerate(names.split(",")) if name.strip())
    return found


def value_of(text: str) -> Any:
    """Of an expression; its text if it names something else."""
    try:
        return eval(text, constants())
    except NameError:
        return text


def arguments(text: str) -> list[str]:
    """Those of a macro."""
    parts, depth = [""], 0
    for token in re.findall(r'"[^"]*"|\s+|.', text):
        depth += (token == "(") - (token == ")")
        if token == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += token if token.strip() else " "
    return [part.strip() for part in parts]


@lru_cache(maxsize=None)
def rows() -> list[Row]:
    body = code(ROWS).rpartition("#define")[2].partition("\n")[2]
    found: list[Row] = []
    for macro, rest in re.findall(r"^([A-Z_]+)\((.*?)\)$(?=\s+[A-Z#])", body,
                                  re.M | re.S):
        scope, *words = arguments(
            {"OWN": "", "SECOND_VALUE": ""}.get(macro, f"{macro}, ") + rest)
        if macro == "OWN":
            scope, *words = words[1:]
        kind, name, group, _, otherwise, key, limits, *help_ = words
        least, most, zero = value_of(limits)
        found.append(Row(scope, kind, name, group, value_of(otherwise), least,
                         most, zero or "", value_of(key) or "",
                         value_of(help_[0]) if help_ else "", macro == "OWN"))
    return found


def directives() -> list[Row]:
    """Without their second values."""
    return [row for row in rows() if row.help]


def size(number: int) -> str:
    for unit in "", "K", "M":
        if number == 0 or number % 1024:
            return f"{number}{unit}"
        number //= 1024
    return f"{number}G"


def time(seconds: int) -> str:
    return f"{seconds // 3600}h" if seconds % 3600 == 0 else f"{seconds}s"


def default(row: Row) -> str:
    """Empty: the row does not say it."""
    value = row.otherwise
    if row.kind == "SIGNAL":
        return value.removeprefix("SIG") if value else "none"
    if row.kind == "TEXT":
        return value or ""
    if not isinstance(value, int) or row.values() > 1:
        return ""
    if row.kind in ("WORD", "PAIR"):
        return row.zero.split()[value]
    if row.kind == "SWITCH":
        return "On" if value else "Off"
    if row.kind == "SIZE":
        return size(value)
    return f"{value}s" if row.kind == "TIME" and value else str(value)


def facts(row: Row) -> dict[str, str]:
    """The beginning of each line, as far as the row says it."""
    found = {}
    argument = ARGUMENTS.get(row.kind) if not row.is_own else None
    if row.kind in ("WORD", "PAIR"):
        argument = row.zero.replace(" ", "|")
    elif row.kind == "SIGNAL":
        argument = "SIGNAL" if row.least else "SIGNAL|none"
    if argument:
        found["Syntax"] = f"`{row.name} {argument}`"
    if row.scope in CONTEXTS:
        found["Context"] = CONTEXTS[row.scope]
    if default(row):
        meaning = f" ({row.zero})" if default(row) == "0" and row.zero else ""
        found["Default"] = f"`{default(row)}`{meaning}"
    zero = f"; 0: {row.zero}" if row.zero else ""
    if row.values() > 1:
        pass
    elif row.kind == "TIME":
        found["Range"] = f"{'0' if row.zero else '1ms'} to {time(row.most)}{zero}"
    elif row.kind == "SIZE":
        found["Range"] = f"{size(row.least)} to {size(row.most)}{zero}"
    elif row.kind == "NUMBER":
        found["Range"] = f"{row.least} to {row.most}{zero}"
    elif row.kind == "TEXT" and row.most:
        found["Range"] = f"{row.least} to {row.most} bytes"
    return found


def sections() -> dict[str, str]:
    """Each directive with its section of the manual."""
    parts = re.split(r"^## (\w+)$", MANUAL.read_text(), flags=re.M)[1:]
    return dict(zip(parts[::2], parts[1::2]))


def found_in(section: str) -> dict[str, str]:
    """The lines of facts of a section."""
    return {key: " ".join(value.split()) for key, value in re.findall(
        r"^\*\*(\w+):\*\* ((?:(?!\*\*).+\n)+)", section, re.M)}


def missing() -> Iterator[str]:
    """What is not in the manual."""
    written = sections()
    for row in directives():
        there = found_in(written.get(row.name, ""))
        if not there:
            yield f"{row.name}: no section"
        for key, text in facts(row).items():
            if not there.get(key, "").startswith(text):
                yield f"{row.name}: {key}: {text}"


def with_facts(row: Row, section: str) -> str:
    """The section with the facts of the row."""
    wanted = facts(row)
    there = {**{"Default": "none"}, **found_in(section)}
    lines = [f"**{key}:** {there[key]}"
             if there.get(key, "").startswith(wanted.get(key, " "))
             or key not in wanted else f"**{key}:** {wanted[key]}"
             for key in FACTS if key in there or key in wanted]
    before, _, rest = section.partition("**Syntax:**")
    return before + "  \n".join(lines) + "\n\n" + rest.partition("\n\n")[2]


def write() -> None:
    text = MANUAL.read_text()
    written = sections()
    for row in directives():
        old = written.get(row.name)
        if old is None:
            old = f"\n\n{row.help}.\n\n**Syntax:** `{row.name} VALUE`\n\n" \
                f"    {row.name} {default(row) or 'VALUE'}\n\n"
            place = text.rindex("\n## ") + 1
            text = f"{text[:place]}## {row.name}{old}{text[place:]}"
        text = text.replace(f"## {row.name}{old}",
                            f"## {row.name}{with_facts(row, old)}")
    MANUAL.write_text(text)


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        write()
    print("".join(f"{line}\n" for line in missing()), end="")
