#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Tests ibfattree slurm: hosts with a port on an upper switch; names of switches and hosts.

    slurm.py IBFATTREE IBFATTREE-SLURM DIRECTORY
"""
import importlib.machinery
import importlib.util
import os
import random
import re
import subprocess
import sys

sys.dont_write_bytecode = True
HEADS = ('', 'leaf', 'pod-1-', 'rails-', 'a bé')


class Failed(Exception):
    pass


def must(good, message):
    if not good:
        raise Failed(message)


class Fabric:
    """A netfile.  Switches have numbers as GUIDs, and no names."""

    def __init__(self):
        self.nodes = {}

    def join(self, a, a_port, b, b_port):
        self.nodes.setdefault(a, {})[a_port] = (b, b_port)
        self.nodes.setdefault(b, {})[b_port] = (a, a_port)

    def host(self, name, guid, switch, port):
        self.join(f'H-{guid:016x} {name}', 1, switch, port)

    def text(self):
        lines = []
        for node, links in self.nodes.items():
            if isinstance(node, int):
                lines.append(f'switchguid={node}\nSwitch 20 "S-{node}" # ""')
            else:
                guid, name = node.split()
                lines.append(f'caguid=0x{guid[2:]}\nCa 1 "{guid}" # "{name}"')
            for port, (far, far_port) in links.items():
                far = f'S-{far}' if isinstance(far, int) else far.split()[0]
                lines.append(f'[{port}] "{far}"[{far_port}]')
        return '\n'.join(lines) + '\n'


def upper_fabric():
    """Two hosts have one port on an upper switch of one pod, and another port on a leaf of another
    pod.  They belong to neither pod, but to the pod above both.

        rank 2     21        22         each connected to all switches of rank 1
        rank 1   1   2     3   4
        rank 0   5 6 7     8 9 10       each connected to both switches above it
    """
    fabric = Fabric()
    for s in range(1, 5):
        for i in (1, 2):
            fabric.join(s, 10 + i, 20 + i, s)
    for s in range(5, 11):
        for i in (1, 2):
            fabric.join(s, 10 + i, i + (0 if s < 8 else 2), s - 4)
        for i in range(1, 7):
            fabric.host(f'n{s:02}{i}', 0x100 * s + 2 * i, s, i)
    for i in (1, 2):
        fabric.host(f'x{i}', 0x1000 + 2 * i, 1, 12 + i)
        fabric.host(f'x{i}', 0x2000 + 2 * i, 8, 12 + i)
    return fabric


class Tests:
    def __init__(self, command, program, directory):
        loader = importlib.machinery.SourceFileLoader('slurm', program)
        spec = importlib.util.spec_from_loader('slurm', loader)
        self.slurm = importlib.util.module_from_spec(spec)
        loader.exec_module(self.slurm)
        self.command, self.file = command, os.path.join(directory, 'upper.net')

    def hosts_on_upper_switch(self):
        with open(self.file, 'w', encoding='ascii') as file:
            file.write(upper_fabric().text())
        done = subprocess.run([self.command, 'slurm', self.file], capture_output=True, text=True,
                              check=True)
        must(not done.stderr, done.stderr)
        for line in ('SwitchName=rails-6 Nodes=x[1-2]',
                     'SwitchName=pod-1-0 Switches=sw-0000000000000005,sw-0000000000000006,'
                     'sw-0000000000000007', 'SwitchName=pod-2-0 Switches=rails-6,pod-1-0,pod-1-1'):
            must(line in done.stdout.split('\n'), f'no line {line}: {done.stdout}')

    def switch_names(self):
        """For random descriptions, the names are different and follow the rules of Slurm: letters,
        digits and "-_.", and a number of at most 19 digits at the end."""
        for seed in range(1, 2001):
            rng = random.Random(seed)
            texts = []
            for _ in range(12):     # few letters, so that names end in long numbers, and repeat
                alphabet = '0000123456789x-'[:rng.choice((13, 15))]
                texts.append(rng.choice(HEADS) +
                             ''.join(rng.choices(alphabet, k=rng.randrange(rng.choice((2, 26))))))
            names = self.slurm.switch_names([{'name': text, 'guid': f'0x{i:016x}'}
                                             for i, text in enumerate(texts)])
            must(len(set(names)) == len(names), f'seed {seed}: {names}')
            for name in names:
                must(re.fullmatch('[-A-Za-z0-9_.]+', name) and
                     len(re.search('[0-9]*$', name)[0]) <= 19, f'seed {seed}: {name}')

    def host_lists(self):
        for names, want in (
                ('n1 n2 n3 n7 login', 'n[1-3,7],login'), ('n08 n09 n10 n11', 'n[08-11]'),
                ('n9 n10', 'n[9-10]'), ('n01 n2 n03', 'n[01,2,03]'), ('a b', 'a,b'), ('7 8', '[7-8]'),
                ('a1 b1 b2', 'a1,b[1-2]'), ('n99 n100', 'n[99-100]'), ('n009 n10', 'n[009,10]'),
                ('n1234567890 n1234567891', 'n1234567890,n1234567891')):
            is_now = self.slurm.host_list(names.split())
            must(is_now == want, f'{names}: {is_now}, not {want}')


def main():
    tests = Tests(*sys.argv[1:])
    try:
        tests.hosts_on_upper_switch()
        tests.switch_names()
        tests.host_lists()
    except Failed as error:
        sys.exit(str(error))


if __name__ == '__main__':
    main()
