#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Prints how many lines, branches and conditions of src the tests have run, module by module.

Usage: tests/lib/coverage.py [--missing MODULE | --files MODULE] DIR

DIR is a build directory of scripts/build --coverage, in which tests have run.  A branch is one
outcome of a condition (an operand of && or ||, or a whole condition without these operators), or a
case of a switch.  Branches inside a macro of a system header (of OpenSM or libc, for example
CL_PLOCK_ACQUIRE or tolower) do not count: they have no width in our source.  A condition of a decision with several conditions counts for MC/DC if the tests
show that it changes the outcome of the decision while the others do not change.

A function that records an error and returns false (ALWAYS_FALSE) has one outcome; the other one
does not count.  A line with a branch that no test can take has a comment "not covered: REASON", and
its branches and conditions do not count.  The limits are goals: the exit status is 0 if they are not reached.

--missing lists the branches of a module that were never taken, and the conditions without MC/DC.
--files prints a row for each file of a module.
"""

import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
LIMITS = dict.fromkeys(["core/check", "plugin/reroute", "core/incremental", "core/tables",
                        "core/fabric"], 100.0)
COMMAND = {"command/cli": 95.0}
MARK = re.compile(r"not covered: \S")
ALWAYS_FALSE = re.compile(r"ftr_text_(fail(_at)?|expected|nomem|torn)\(")


def programs(build):
    """Returns the programs and libraries of the build."""
    found = []
    for path in sorted(build.rglob("*")):
        if path.is_file() and path.stat().st_mode & 0o111:
            with path.open("rb") as file:
                if file.read(4) == b"\x7fELF":
                    found.append(path)
    return found


def export(build):
    """Returns llvm-cov's data for the files in src."""
    profiles = list((build / "profile").glob("*.profraw"))
    if not profiles:
        sys.exit(f"coverage.py: {build}: no test has run there")
    merged = build / "profile" / "merged.profdata"
    subprocess.run(["llvm-profdata-19", "merge", "-o", merged, *profiles], check=True)
    command = ["llvm-cov-19", "export", "-instr-profile", merged]
    for path in programs(build):
        command += ["-object", path]
    out = subprocess.run(command, capture_output=True, check=True).stdout
    for file in json.loads(out)["data"][0]["files"]:
        path = pathlib.Path(file["filename"])
        if path.is_relative_to(TOP / "src") and path.exists():  # not of an earlier build
            yield str(path.relative_to(TOP / "src")), file


def excluded(text):
    """Returns the numbers of the lines with a reason why a branch is not covered."""
    return {i for i, line in enumerate(text, 1) if MARK.search(line)}


def outcomes(name, file):
    """Returns two dictionaries, {(line, text): taken} for branches and for conditions, and the
    number of branches that do not count.  A line may be compiled several times, for example in a
    header: what one of the programs took was taken."""
    branches = collections.defaultdict(bool)
    conditions = collections.defaultdict(bool)
    text = (TOP / "src" / name).read_text().splitlines()
    skip = excluded(text)
    skipped = 0
    for line, column, end_line, end_column, true, false, *_ in file["branches"]:
        if (line, column) == (end_line, end_column):
            continue
        if line in skip:
            skipped += 2
            continue
        if ALWAYS_FALSE.match("".join(text[line - 1:line]), column - 1):
            skipped += 1
        else:
            branches[line, f"{column}, true"] |= true > 0
        branches[line, f"{column}, false"] |= false > 0
    for line, column, *_, shown in file["mcdc_records"]:
        for i, independent in enumerate(shown, 1):
            if line not in skip:
                conditions[line, f"{column}, condition {i}"] |= independent
    return branches, conditions, skipped


def share(taken, n):
    return 100.0 * taken / n if n else 100.0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--missing", metavar="MODULE")
    parser.add_argument("--files", metavar="MODULE")
    parser.add_argument("dir", type=pathlib.Path, metavar="DIR")
    args = parser.parse_args()
    total = collections.defaultdict(lambda: [0] * 7)
    for name, file in sorted(export(args.dir.resolve())):
        module = str(pathlib.Path(name).parent)
        branches, conditions, skipped = outcomes(name, file)
        lines = file["summary"]["lines"]
        keys = [name] if args.files == module else [] if args.files else [module, "all"]
        for key in keys:
            new = (lines["covered"], lines["count"], sum(branches.values()), len(branches),
                   sum(conditions.values()), len(conditions), skipped)
            total[key] = [a + b for a, b in zip(total[key], new)]
        if args.missing == module:
            for kind, what in ("branch", branches), ("no MC/DC", conditions):
                for (number, text), taken in sorted(what.items()):
                    if not taken:
                        print(f"src/{name}:{number}: {kind} {text}")
    if args.missing:
        return
    print(f"{'module':24} {'lines':>15} {'branches':>16} {'MC/DC':>14} {'excluded':>9} {'limit':>6}")
    for module, (run, n, taken, m, shown, c, skipped) in sorted(total.items()):
        limit = LIMITS.get(module, COMMAND.get(module, 0 if module.startswith("lab") else 98.0))
        print(f"{module:24} {run:6} {share(run, n):6.1f} % {taken:7} {share(taken, m):6.1f} % "
              f"{shown:5} {share(shown, c):6.1f} % {skipped:9} {limit or '-':>6}"
              f"{'' if share(taken, m) >= limit or module == 'all' else '  below the limit'}")


if __name__ == "__main__":
    main()
