# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The files that a developer has changed, as git knows them."""
import subprocess
from pathlib import Path


class NoHistory(Exception):
    """git does not know what was changed. The text says why."""


def git(top: Path, *words: str) -> str:
    # Tests run as root, and a tree may belong to another user. This program is
    # in that tree: git trusts no more than we do.
    try:
        done = subprocess.run(
            ["git", "-c", f"safe.directory={top}", "-C", str(top), *words],
            text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except FileNotFoundError:
        raise NoHistory("there is no git")
    if done.returncode != 0:
        raise NoHistory(done.stderr.strip().partition("\n")[0])
    return done.stdout


def changed(top: Path, since: str = "") -> tuple[list[str], str]:
    """Files that differ from a commit, with new ones, and a word about which
    they are. Without a commit it is the last one. If no file differs from that,
    they are the files of the last commit: its test comes after it."""
    def names(*words: str) -> list[str]:
        return [file for file in git(top, *words, "-z").split("\0") if file]

    if Path(git(top, "rev-parse", "--show-toplevel").strip()) != top:
        raise NoHistory("this tree is no repository of git")
    how = ("--name-only", "--no-renames")
    files = names("diff", *how, since or "HEAD") \
        + names("ls-files", "--others", "--exclude-standard")
    if files or since:
        return files, f"changed since {since or 'the last commit'}"
    # The first parent of a merge.
    return names("show", *how, "--format=", "-m", "--first-parent", "HEAD"), \
        "changed by the last commit"
