# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Checks a Grafana dashboard against the types that Grafana Labs publish in the npm package
@grafana/grafana-foundation-sdk.  Usage: dashboard.py DIRECTORY DASHBOARD.json
DIRECTORY has the package and TypeScript in node_modules; its declaration files are
modified once."""

import glob
import json
import os
import re
import subprocess
import sys

SDK = "node_modules/@grafana/grafana-foundation-sdk/dist"


def plain(text):
    """Turn enumerations into unions of their values, because JSON has the values."""
    def union(m):
        items = re.findall(r'(\w+) = ("[^"]*"|-?\d+)', m[2])
        members = " ".join(f"type {k} = {v};" for k, v in items)
        return (f"export type {m[1]} = {' | '.join(v for _, v in items)};\n"
                f"export declare namespace {m[1]} {{ {members} }}")
    return re.sub(r"export declare enum (\w+) \{(.*?)\}", union, text,
                  flags=re.S)


def program(dashboard):
    """The dashboard as constants of the published types.  Options of a panel and its
    queries have types of their own."""
    d = json.loads(json.dumps(dashboard))
    lines = []
    for i, panel in enumerate(d["panels"]):
        for j, query in enumerate(panel.pop("targets")):
            lines.append(f"const q{i}_{j}: Partial<Dataquery> = {json.dumps(query)};")
        lines.append(f"const o{i}: Partial<{panel['type']}> = "
                     f"{json.dumps(panel.pop('options'))};")
    used = [("Dashboard", "dashboard", "Dashboard"),
            ("Dataquery", "prometheus", "Dataquery")]
    used += [("Options", t, t) for t in sorted({p["type"] for p in d["panels"]})]
    return "\n".join([f"import {{ {what} as {name} }} from './{SDK}/{part}/types.gen';"
                      for what, part, name in used] + lines +
                     [f"const d: Dashboard = {json.dumps(d, indent=1)};\n"])


def errors(directory, dashboard):
    with open(os.path.join(directory, "dashboard.ts"), "w") as out:
        out.write(program(dashboard))
    return subprocess.run(
        ["node_modules/.bin/tsc", "--noEmit", "--strict", "--skipLibCheck",
         "--typeRoots", "none", "dashboard.ts"], cwd=directory,
        stdout=subprocess.PIPE, text=True, check=False).stdout


def main():
    directory, path = sys.argv[1:]
    for f in glob.glob(os.path.join(directory, SDK, "*", "types.gen.d.ts")):
        with open(f) as old:
            text = plain(old.read())
        with open(f, "w") as new:
            new.write(text)
    with open(path) as f:
        text = f.read()
    found = errors(directory, json.loads(text))
    assert not found, found
    # a misspelled member is found at every level, and so is a wrong value
    for good, wrong in (("gridPos", "gridpos"), ("includeAll", "includeall"),
                        ("legendFormat", "legend"), ("colorMode", "colourMode"),
                        ('"unit"', '"units"'), ('"bottom"', '"below"')):
        assert good in text, good
        assert errors(directory, json.loads(text.replace(good, wrong))), \
            f"{wrong} is accepted"


main()
