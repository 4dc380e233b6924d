# Licensed under the Apache License, Version 2.0; see LICENSE.
"""What tests/quick/coverage has entered: entered.py BUILD

A function is entered if gcov counted a call of it, in any program. A file of
another language is entered if it was read: the time of that is not 1970."""
import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests" / "source"))
from source import HOUSES, c_files, lists, name  # noqa: E402


def functions(build: Path) -> dict[str, dict[str, bool]]:
    """Each source file with its functions, and whether they were called."""
    found: dict[str, dict[str, bool]] = defaultdict(dict)
    for counters in build.rglob("*.gcda"):
        if counters.stat().st_size == 0:
            counters.unlink()  # gcov takes that for nothing was called
    notes = sorted(path for path in build.rglob("*.gcno")
                   if "conftest" not in path.name)
    done = subprocess.run(["gcov", "--json-format", "--stdout", *notes],
                          cwd=build, stdout=subprocess.PIPE, check=True,
                          stderr=subprocess.DEVNULL)
    for line in done.stdout.splitlines():
        for file in json.loads(line)["files"]:
            path = (build / file["file"]).resolve()
            if TOP not in path.parents:
                continue
            for function in file["functions"]:
                calls = found[name(path)]
                calls[function["name"]] = function["execution_count"] > 0 \
                    or calls.get(function["name"], False)
    return found


def is_read(file: Path) -> bool:
    """Python reads what it has compiled in its place."""
    compiled = file.parent.glob(f"__pycache__/{file.stem}.*")
    return any(path.stat().st_atime > 0 for path in (file, *compiled))


def main() -> None:
    called = functions(Path(sys.argv[1]).resolve())
    files = {name(path): any(called[name(path)].values())
             for path in c_files(*HOUSES) if path.suffix == ".c"}
    files |= {file: is_read(TOP / file) for file in lists()["language_helpers"]}
    folders: dict[str, list[str]] = defaultdict(list)
    for file in files:
        folders[file.rpartition("/")[0]].append(file)
    for folder, some in [*sorted(folders.items()), ("all", list(files))]:
        calls = [call for file in some for call in called[file].values()]
        print(f"{folder:28}"
              f"{sum(files[file] for file in some):4} of {len(some):3} files"
              f"{sum(calls):6} of {len(calls):4} functions")
    print("not entered:", *(file for file, entered in files.items()
                            if not entered))
    passed = [folder for folder, some in folders.items()
              if any(files[file] for file in some)]
    for folder in sorted(folders.keys() - passed):
        print(f"not ok - no case passes {folder}")
    failed = len(folders) - len(passed)
    print(f"{len(passed)} passed, {failed} failed, 0 skipped")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
