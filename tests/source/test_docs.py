# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The code and the manual agree."""
import re
import subprocess
from pathlib import Path

import pytest

import directives
from source import HOUSES, TOP, c_files, name

MANUAL = directives.MANUAL
CTL = TOP / "ctl" / "apppoolctl.c"
MAN = TOP / "doc" / "apppoolctl.8"
COMPLETION = TOP / "ctl" / "completion" / "apppoolctl"


def known() -> set[str]:
    """Directives of the module."""
    return {row.name for row in directives.directives()}


def documented() -> dict[str, str]:
    """Each directive with its section of the manual."""
    return directives.sections()


def test_each_directive_is_documented() -> None:
    """With the facts of its row. `tests/source/directives.py --write` writes
    them."""
    assert len(known()) > 70
    assert list(directives.missing()) == []


def test_each_documented_directive_exists() -> None:
    assert set(documented()) - known() == set()


def test_groups_of_directives() -> None:
    """The manual names those that are looked up for each request, those that an
    application below another one does not inherit, and those in which AppRoots
    of one name must agree."""
    def named(text: str) -> set[str]:
        return set(re.findall(r"\b(?:App|M)\w+", text))

    def those(**wanted: str) -> set[str]:
        return {row.name for row in directives.directives()
                if all(getattr(row, key) == value
                       for key, value in wanted.items())}

    page = MANUAL.read_text()
    inherited = re.search(r"does not inherit these directives:(.*?)\.\s", page,
                          re.S)
    requests = re.search(r"application's\s+URLs: (.*?)\.\n", page, re.S)
    agree = re.search(r"must have the same\s+values of (.*?)\.",
                      documented()["AppGroupName"], re.S)
    assert inherited and requests and agree
    assert named(inherited[1]) == those(group="SELF")
    assert named(requests[1]) == those(scope="REQUEST")
    assert named(agree[1]) | {"AppGroupName", "AppStoreSpace"} == \
        those(group="SELF") | those(group="MADE")


def test_sections() -> None:
    for directive, section in documented().items():
        for line in (rf"^\*\*Syntax:\*\* `{directive} ",
                     r"^\*\*Default:\*\* \S",
                     rf"^    {directive} "):
            assert re.search(line, section, re.M), f"{directive}: no {line}"


def test_help_is_the_first_sentence() -> None:
    """httpd -L prints it."""
    helps = {row.name: row.help for row in directives.directives()}
    for directive, section in documented().items():
        first = " ".join(section.strip().partition("\n\n")[0].split())
        plain = re.sub(r"\[(.*?)\]\(.*?\)", r"\1", first).replace("`", "")
        assert helps[directive] == plain.rstrip("."), directive


def test_order_of_sections() -> None:
    """One sentence, the facts, an example."""
    for directive, section in documented().items():
        first = section.strip().partition("\n\n")[0]
        assert re.fullmatch(r"[^.*]+(\.\S[^.*]*)*\.", first), \
            f"{directive} does not begin with a sentence"
        places = [section.find(part) for part in
                  ("**Syntax:**", "**Context:**", "**Default:**",
                   "**Range:**", f"\n    {directive} ")]
        places = [place for place in places if place >= 0]
        assert len(places) > 2 and places == sorted(places), directive


def test_reference_is_short() -> None:
    """A directive has 0.8 KB in the mean. The why is on the other pages."""
    assert len(MANUAL.read_bytes()) <= 820 * len(documented())


def default_of(section: str) -> str:
    found = re.search(r"^\*\*Default:\*\* ((?:(?!\*\*).+\n)+)", section, re.M)
    assert found
    return " ".join(found[1].split())


def test_table_of_defaults() -> None:
    """It has each default that is a value, as in the section of the
    directive."""
    rows = dict(re.findall(
        r"^\| \[(\w+)\]\(directives\.md#\w+\) \| (.*?) \| \S.* \|$",
        (TOP / "doc" / "defaults.md").read_text(), re.M))
    defaults = {directive: default_of(section)
                for directive, section in documented().items()}
    assert {name: defaults[name] for name in rows} == rows
    places = {"AppCommand", "AppGroupName", "AppPoolRuntimeDir",
              "AppPoolLibexec", "AppPoolSpoolDir"}
    assert {name for name, default in defaults.items()
            if not default.strip("`").startswith("none")} - places == set(rows)


def test_status_document() -> None:
    """Each key and each word of the report has its place in status.md."""
    code = "".join((TOP / "shm/view" / file).read_text()
                   for file in ("report.c", "report_numbers.c",
                                "report_store.c"))
    keys = set(re.findall(r'_(?:known|new)\(\s*\w+,\s*"(\w+)"', code)) | \
        set(re.findall(r'^    \{"(\w+)",', code, re.M))
    words = set(re.findall(r'"([a-z_]+)"[,;]$', code, re.M)) | \
        set(re.findall(r'return "([a-z_]+)"', code))
    assert {"pool", "queue_full", "last_used", "le", "latency", "hits",
            "evicted_age"} <= keys
    assert {"busy", "long_lived", "drained", "child_died"} <= words
    page = (TOP / "doc" / "status.md").read_text()
    in_manual = {word for span in re.findall(r"`([^`]+)`", page)
                 for word in re.findall(r"\w+", span)}
    assert keys | words <= in_manual | {"none", "unknown"}


def helped() -> tuple[set[str], set[str]]:
    """Commands and long options in apppoolctl --help."""
    text = re.search(r"char help\[\] =(.*?);\n", CTL.read_text(), re.S)
    assert text
    lines = "".join(re.findall(r'"(.*)"', text[1])).replace("\\n", "\n")
    return set(re.findall(r"^  ([a-z]+) ", lines, re.M)), \
        set(re.findall(r"(--[a-z-]+)", lines))


def test_man_page() -> None:
    """It has the commands and options of apppoolctl, and no others."""
    commands, options = helped()
    assert {"status", "events", "restart"} <= commands
    page = MAN.read_text()
    part = re.search(r"^\.SH COMMANDS\n(.*?)^\.SH", page, re.M | re.S)
    assert part
    assert set(re.findall(r"^\.TP\n\.BI? ?R? ?([a-z]+)", part[1],
                          re.M)) == commands
    assert set(re.findall(r"--[a-z-]+", page.replace("\\-", "-"))) == options


def test_man_page_is_roff() -> None:
    done = subprocess.run(["groff", "-man", "-ww", "-Tutf8", "-z", str(MAN)],
                          text=True, stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (0, "")
    # A tag is one line. The text beside it follows.
    for tag in re.findall(r"^\.TP\n(.*)", MAN.read_text(), re.M):
        assert tag.count("[") == tag.count("]"), tag


def test_completion() -> None:
    """Bash completes the same words."""
    commands, options = helped()
    script = f"""
        source {COMPLETION}
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
        _apppoolctl
        printf "%s\\n" "${{COMPREPLY[@]}}" """

    def complete(*words: str) -> set[str]:
        done = subprocess.run(["bash", "-uc", script, "bash", "apppoolctl",
                               *words], check=True, text=True,
                              stdout=subprocess.PIPE)
        return set(done.stdout.split())

    assert complete("") == commands
    assert complete("--dir", "/run", "de") \
        == {command for command in commands if command.startswith("de")}
    found = complete("--").union(*(complete(command, "--")
                                   for command in commands))
    assert found == options
    assert complete("restart", "shop", "--r") == {"--rolling"}
    assert complete("store", "keys", "--") == {"--json"}
    assert complete("detect", f"{TOP}/spa") == {f"{TOP}/spawner"}


def test_readme_is_one_file() -> None:
    """automake wants README, and GitHub shows README.md"""
    assert (TOP / "README").is_symlink()
    assert (TOP / "README").readlink() == Path("README.md")


def test_contributing_quotes_the_code() -> None:
    """Its examples of style are lines of the files that it names."""
    text = (TOP / "CONTRIBUTING").read_text()
    found = re.findall(r"\((\w+/[\w/]+\.[ch])\):\n\n((?:    .+\n)+)", text)
    assert len(found) == 3
    for file, lines in found:
        code_lines = [line.strip()
                      for line in (TOP / file).read_text().splitlines()]
        for line in lines.splitlines():
            assert line.strip() in code_lines + ["..."], f"{file}: {line}"


def test_ten_questions() -> None:
    """Each file that decides has the text that CONTRIBUTING names."""
    part = (TOP / "CONTRIBUTING").read_text().partition("Ten questions\n")[2]
    found = re.findall(r"^ +(\d+)\. .*\n {12}(\S+): (.*)$", part, re.M)
    assert [int(number) for number, _, _ in found] == list(range(1, 11))
    for number, file, text in found:
        assert text in (TOP / file).read_text(), f"{number}: {file}"


HEADERS = [path for path in c_files(*HOUSES) if path.suffix == ".h"]
# Folders whose headers have no empty line left.
CLEAN = ("base", "system", "detect", "watchdog", "shm", "ctl")
EMPTY = re.compile(r"^ \* (?:Lock|Crash|Trust|Errors): +"
                   r"(?:none|not concerned|not needed|no state)\.?$", re.M)


def test_headers_state_their_contract() -> None:
    """Who changes the pool has to know about the lock."""
    for path in HEADERS:
        text = path.read_text()
        assert re.findall(r"@file (.*)", text) in ([path.name], []), name(path)
        assert path not in c_files("shm") or re.search(r"@brief \S", text), \
            name(path)
        assert "apl_lock_token_t *" not in text.partition("#ifndef")[2] \
            or re.search(r"^ \* Lock: +\S", text, re.M), name(path)


def test_a_line_of_a_contract_says_something() -> None:
    """If there is nothing to say, there is no line."""
    assert EMPTY.search(" * Lock:  none.\n")
    assert [name(path) for path in c_files(*CLEAN)
            if EMPTY.search(path.read_text())] == []


INDEX = TOP / "doc" / "README.md"
PAGES = [*sorted(TOP.glob("README*")), TOP / "tests" / "README.md",
         *sorted((TOP / "doc").glob("*.md"))]


def links(path: Path) -> list[tuple[str, str]]:
    """File and anchor of each relative link. Either may be empty."""
    text = re.sub(r"^    .*|`[^`]*`", "", path.read_text(), flags=re.M)
    return re.findall(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)", text)


def anchors(path: Path) -> set[str]:
    """The anchors of its headings, as GitHub makes them."""
    return {re.sub(r"[^a-z0-9_ -]", "", head.lower()).replace(" ", "-")
            for head in re.findall(r"^#+ (.*)$", path.read_text(), re.M)}


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_links(path: Path) -> None:
    """Each link leads to a file, and to a heading of it."""
    for file, anchor in links(path):
        target = path.parent / file if file else path
        assert target.exists(), file
        assert not anchor or anchor in anchors(target), f"{file}#{anchor}"


def test_index() -> None:
    """It names each file and folder of doc/, and describes it in a sentence."""
    named = re.findall(r"^\* \[([^]]+)\]\(([^)]+)\): (\w[^*]+?)\.$",
                       INDEX.read_text(), re.M)
    assert [file for file, link, _ in named if file != Path(link).name
            and link not in (f"../{file}", f"{file}/README.md")] == []
    assert {path.name for path in INDEX.parent.iterdir()} \
        - {file for file, _, _ in named} == {INDEX.name}


GLOSSARY = TOP / "doc" / "glossary.md"


def first_links(path: Path) -> dict[str, tuple[str, str]]:
    """Words of the glossary that a page links: what is linked, and the text of
    the page before that."""
    found: dict[str, tuple[str, str]] = {}
    text = re.sub(r"^    .*|`[^`]*`|^#.*", "", path.read_text(), flags=re.M)
    for link in re.finditer(r"\[([^]]+)\]\([\w/]*glossary\.md#([\w-]+)\)",
                            text):
        found.setdefault(link[2], (" ".join(link[1].split()),
                                   text[:link.start()]))
    return found


def test_words_are_linked_where_they_occur_first() -> None:
    linked = {page: first_links(page) for page in PAGES if page != GLOSSARY}
    assert anchors(GLOSSARY) - {"words-of-the-manual"} \
        == {word for words in linked.values() for word in words}
    assert len(linked[TOP / "README.md"]) > 3
    for page, words in linked.items():
        for word, (shown, before) in words.items():
            plain = re.sub(r"\[[^]]*\]\([^)]*\)", "", before)
            assert not re.search(rf"(?<![\w-]){word}(?![\w-])", plain), \
                f"{name(page)}: {word}"
            assert shown.lower()[:4] == word[:4], f"{name(page)}: {shown}"


def test_glossary_is_in_order() -> None:
    words = re.findall(r"^## (.*)$", GLOSSARY.read_text(), re.M)
    assert words == sorted(words) and len(words) > 20


def test_questions() -> None:
    """Each question has a section about it."""
    rows = re.findall(r"^\| [^|]+\? \| (.*) \|$", INDEX.read_text(), re.M)
    assert len(rows) == 5
    for response in rows:
        assert re.search(r"\]\([^)]+#[^)]+\)", response), response


def test_pages_about_a_move() -> None:
    """The pages for users of other servers have the same parts in the same
    order."""
    for path in sorted((TOP / "doc").glob("from-*.md")):
        heads = re.findall(r"^## (.*)$", path.read_text(), re.M)
        assert [head if head != "Options" else "Directives"
                for head in heads] == [
            "Before", "After", "Directives", "What behaves differently",
            "Checklist"], name(path)
