# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Lines of a configuration that httpd -t refuses."""
from harness.cases import cases
from harness.httpd import Httpd

# A long value may be cut. At least this much of it must be shown.
SHOWN = 40


def refused(httpd: Httpd, directive: str, value: str) -> None:
    done = httpd.test()
    assert done.returncode != 0, "httpd -t takes it"
    sentences = [line for line in done.stdout.splitlines()
                 if line.startswith(directive) or f" {directive}" in line]
    assert len(sentences) == 1, done.stdout
    sentence = sentences[0].split(directive, 1)[1]
    assert value[:SHOWN] in sentence, done.stdout
    assert len(sentence.replace(value, "").split()) >= 4, \
        f"does not say what is allowed: {done.stdout}"


def all_refused(httpd: Httpd, place: list[str],
                table: list[tuple[str, str]]) -> None:
    """Each line in turn, at the end of these directives."""
    for (line, value), case in cases(table):
        place.append(line)
        with case:
            refused(httpd, line.split()[0], value)
        place.pop()
