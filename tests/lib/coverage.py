#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Prints how many lines and branches of src the tests have run, module by module.

Usage: tests/lib/coverage.py [--missing MODULE] DIR

DIR is a build directory of scripts/build --coverage, in which tests have run.  A source file may
be compiled several times; a line or branch counts if it was taken in one of the objects.

A branch that no test can take has a comment "not covered: REASON" on its line, and does not count.
The limits are goals: the exit status is 0 if they are not reached.

--missing lists the branches of a module that were never taken.
"""

import argparse
import collections
import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
LIMITS = dict.fromkeys(["core/check", "plugin/reroute", "core/incremental", "core/tables",
                        "core/fabric"], 100.0)
COMMAND = {"command/cli": 95.0, "command/picture": 95.0}
MARK = re.compile(r"not covered: \S")


def gcov(path):
    """Returns gcov's JSON for one .gcda file."""
    out = subprocess.run(["gcov", "--json-format", "--stdout", "--branch-probabilities", path.name],
                         cwd=path.parent, capture_output=True, check=True).stdout
    return [json.loads(line) for line in out.splitlines() if line.startswith(b"{")], path.parent


def collect(build):
    """Returns {file: {line: count}} and {file: {(line, number): count}}."""
    lines = collections.defaultdict(lambda: collections.defaultdict(int))
    branches = collections.defaultdict(lambda: collections.defaultdict(int))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for reports, _ in pool.map(gcov, sorted(build.rglob("*.gcda"))):
            for report in reports:
                base = pathlib.Path(report["current_working_directory"])
                for f in report["files"]:
                    path = (base / f["file"]).resolve()
                    if not path.is_relative_to(TOP / "src"):
                        continue
                    name = str(path.relative_to(TOP / "src"))
                    for line in f["lines"]:
                        number = line["line_number"]
                        lines[name][number] += line["count"]
                        for i, branch in enumerate(line["branches"]):
                            branches[name][number, i] += branch["count"]
    return lines, branches


def excluded(name):
    """Returns the numbers of the lines with a reason why a branch is not covered."""
    text = (TOP / "src" / name).read_text().splitlines()
    return {i for i, line in enumerate(text, 1) if MARK.search(line)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--missing", metavar="MODULE")
    parser.add_argument("dir", type=pathlib.Path, metavar="DIR")
    args = parser.parse_args()
    lines, branches = collect(args.dir.resolve())
    if not lines:
        sys.exit(f"coverage.py: {args.dir}: no test has run there")
    total = collections.defaultdict(lambda: [0, 0, 0, 0, 0])
    for name in sorted(lines):
        module = str(pathlib.Path(name).parent)
        skip = excluded(name)
        taken = {k: n for k, n in branches[name].items() if k[0] not in skip}
        for key in module, "all":
            sums = total[key]
            sums[0] += sum(n > 0 for n in lines[name].values())
            sums[1] += len(lines[name])
            sums[2] += sum(n > 0 for n in taken.values())
            sums[3] += len(taken)
            sums[4] += len(branches[name]) - len(taken)
        if args.missing == module:
            for (number, i), n in sorted(taken.items()):
                if not n:
                    print(f"src/{name}:{number}: branch {i}")
    if args.missing:
        return
    print(f"{'module':22} {'lines':>15} {'branches':>16} {'excluded':>9} {'limit':>6}")
    for module, (run, n, taken, m, skipped) in sorted(total.items()):
        limit = LIMITS.get(module, COMMAND.get(module, 0 if module.startswith("lab") else 98.0))
        share = 100.0 * taken / m if m else 100.0
        print(f"{module:22} {run:6} {100.0 * run / max(n, 1):6.1f} % {taken:7} {share:6.1f} % "
              f"{skipped:9} {limit or '-':>6}"
              f"{'' if share >= limit or module == 'all' else '  below the limit'}")


if __name__ == "__main__":
    main()
