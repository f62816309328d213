# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Reads topology.yaml by the rules of Slurm's topology.yaml(5), and prints the same topology
in the form of topology.conf, so that a slurmctld that does not know YAML can read it.
Usage: topology.py FILE."""

import sys

import yaml


def members(what, value, wanted, optional=()):
    assert isinstance(value, dict), f"{what}: not a mapping: {value}"
    extra = set(value) - set(wanted) - set(optional)
    assert not extra, f"{what}: unknown: {extra}"
    lost = set(wanted) - set(value)
    assert not lost, f"{what}: missing: {lost}"


def text(what, value):
    # YAML reads an unquoted 1e3 as a number, and an unquoted no as false
    assert isinstance(value, str) and value, f"{what}: not a name: {value!r}"
    return value


def unique(what, names):
    assert len(names) == len(set(names)), f"{what}: a name occurs twice: {names}"


def tree(value):
    members("tree", value, ["switches"])
    names = []
    for s in value["switches"]:
        members("switch", s, ["switch"], ["children", "nodes"])
        names.append(text("switch", s["switch"]))
        assert ("children" in s) != ("nodes" in s), f"children or nodes: {s}"
        key = "Switches" if "children" in s else "Nodes"
        below = text("switch", s.get("children", s.get("nodes")))
        print(f"SwitchName={names[-1]} {key}={below}")
    unique("switch", names)


def block(value):
    members("block", value, ["block_sizes", "blocks"])
    names = []
    for b in value["blocks"]:
        members("block", b, ["block", "nodes"])
        names.append(text("block", b["block"]))
        print(f"BlockName={names[-1]} Nodes={text('block', b['nodes'])}")
    unique("block", names)
    sizes = value["block_sizes"]
    assert sizes and all(isinstance(n, int) and n > 0 for n in sizes), sizes
    for n in sizes:
        # every size is the smallest one times a power of two
        times, rest = divmod(n, sizes[0])
        assert not rest and times & (times - 1) == 0, sizes
    print("BlockSizes=" + ",".join(map(str, sizes)))


def main():
    with open(sys.argv[1], encoding="utf-8") as lines:
        topologies = yaml.safe_load(lines)
    assert isinstance(topologies, list) and topologies, "not a list"
    for t in topologies:
        members("topology", t, ["topology"], ["cluster_default", "tree", "block", "flat"])
        assert next(iter(t)) == "topology", "topology is not the first attribute"
        text("topology", t["topology"])
        assert isinstance(t.get("cluster_default", False), bool), t
        kinds = {"tree", "block", "flat"} & set(t)
        assert len(kinds) == 1, f"exactly one type: {kinds}"
        {"tree": tree, "block": block}[kinds.pop()](
            t.get("tree", t.get("block")))
    unique("topology", [t["topology"] for t in topologies])
    assert sum(t.get("cluster_default", False) for t in topologies) == 1


main()
