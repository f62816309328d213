#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Tests the times of ibfattree collective: closed formulas on one switch and on complete trees, and, on
damaged trees with ranks in random order, a slow evaluation that follows every flow of every step port
by port.

    collective.py IBFATTREE IBFATTREE-COLLECTIVE DIRECTORY
"""
import collections
import importlib.machinery
import importlib.util
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
BYTES, ALPHA, EDR, NDR = 1e9, 2e-6, 12.5e9, 50e9


class Failed(Exception):
    pass


def must(good, message):
    if not good:
        raise Failed(message)


def load(program):
    loader = importlib.machinery.SourceFileLoader('collective', program)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader('collective', loader))
    loader.exec_module(module)
    return module


class Test:
    def __init__(self, command, program, directory):
        self.command, self.collective = command, load(program)
        self.net, self.lfts = (os.path.join(directory, name) for name in ('c.net', 'c.lfts'))

    def make(self, shape, *options):
        subprocess.run([self.command, 'gen', shape, '--random-guids', *options, '-o', self.net],
                       check=True)

    def run(self, name, *options):
        """Returns the ranks and the time of a collective."""
        _, _, _, ranks, results = self.collective.compute(
            [self.net, f'--collective={name}', f'--size={BYTES:.0f}', *options])
        return ranks, results[name, 0]

    def expect(self, name, seconds, *options):
        _, x = self.run(name, '--latency=2us', '--repeat=3', *options)
        must(abs(x.seconds - seconds) < 1e-9 * seconds, f'{name}: {x.seconds} s, expected {seconds} s')
        must(x.lost == 0, f'{name}: {x.lost} lost')
        must(max(x.link_bound, x.adapter_bound) <= x.seconds, f'{name}: a bound is too high')

    def crossbar(self):
        """All patterns on a switch with eight hosts: only the adapters limit."""
        s = BYTES / EDR
        self.make('1;8;1;1')
        self.expect('all-reduce-ring', 14 * (s / 8 + ALPHA))
        self.expect('reduce-scatter', 7 * (s / 8 + ALPHA))
        self.expect('all-gather', 7 * (s / 8 + ALPHA))
        # an inner node receives two halves; the deepest path has three edges
        self.expect('all-reduce-tree', 2 * s + 6 * ALPHA)
        self.expect('all-reduce-doubling', 3 * (s + ALPHA))
        self.expect('all-to-all', 7 * s / 8 + ALPHA)
        self.expect('all-to-all-pairwise', 7 * (s / 8 + ALPHA))
        for name in ('halo', 'random-ring'):
            self.expect(name, s + ALPHA)
        for name in ('bisection', 'exchange'):
            self.expect(name, s)
        self.make('1;6;1;1')            # two surplus hosts: a step before and a step after
        self.expect('all-reduce-doubling', 4 * (s + ALPHA))

    def tree(self):
        """In host order, a complete tree is as fast as a single switch for shifts and all-to-all."""
        s = BYTES / EDR
        for shape, n in (('2;4,4;1,4;1,1', 16), ('3;4,4,4;1,4,4;1,1,1', 64), ('648', 648)):
            self.make(shape, '--seed=5')
            self.expect('all-reduce-ring', 2 * (n - 1) * (s / n + ALPHA))
            self.expect('all-to-all', (n - 1) / n * s + ALPHA)
            self.expect('all-to-all-pairwise', (n - 1) * (s / n + ALPHA))

    def rails(self):
        """Four nodes with eight rails each."""
        s = BYTES / NDR
        self.make('superpod:H100:1', '--nodes=4')
        self.expect('all-reduce-ring', 62 * (s / 8 / 32 + ALPHA))
        self.expect('all-reduce-doubling', 2 * (s / 8 + ALPHA))
        # PXN: a rail carries the data of all eight ranks of a node to three other nodes
        self.expect('all-to-all', 3 * 8 * s / 32 + ALPHA)
        self.expect('all-to-all-pairwise', 3 * (8 * s / 32 + ALPHA))

    # ---- slow evaluation ------------------------------------------------------------------------

    def read(self):
        """Reads the fabric and its tables: links, (switch, port) -> node, by id; the switch of
        each LID; the port of each (switch, LID)."""
        links, leaf, table = {}, {}, {}
        with open(self.net, encoding='utf-8') as file:
            for line in file:
                if match := re.match(r'\[(\d+)\]\s*"([^"]*)"', line):
                    links[node, int(match[1])] = match[2]
                    if match[2][0] == 'H':
                        leaf[int(line.split()[-2])] = node
                elif match := re.match(r'Switch\s.*?"([^"]*)"', line):
                    node = match[1]
        with open(self.lfts, encoding='utf-8') as file:
            for line in file:
                if match := re.match('Unicast.* guid 0x([0-9a-f]*)', line):
                    node = f'S-{match[1]}'
                elif match := re.match('0x([0-9A-Fa-f]{4}) ([0-9]{3}) ', line):
                    table[node, int(match[1], 16)] = int(match[2])
        return links, leaf, table

    def slow_step(self, flows, size):
        """The time of a step; all links have the rate EDR."""
        links, leaf, table = self.data
        count = collections.Counter()
        for a, b in flows:
            switch, hops = leaf[a], 0
            count['from', a] += 1
            count['to', b] += 1
            while links[switch, table[switch, b]][0] == 'S':
                count[switch, table[switch, b]] += 1
                switch, hops = links[switch, table[switch, b]], hops + 1
                must(hops < 20, 'a loop')
            must(switch == leaf[b], 'a flow does not arrive')
        return max(count.values()) * size / EDR + ALPHA

    def slow(self):
        congested = 0
        for seed in range(24):
            shape = ('2;4,4;1,4;1,1', '3;4,2,4;1,2,2;1,1,1', '2;6,5;1,3;1,2')[seed % 3]
            self.make(shape, f'--seed={seed}', f'--drop-links={seed % 4}')
            subprocess.run([self.command, 'route', self.net, '-o', self.lfts], check=True,
                           stderr=subprocess.DEVNULL)
            self.data = self.read()
            options = ('--ranks=random', f'--seed={seed}', f'--tables={self.lfts}')
            port = list(map(int, self.run('halo', *options)[0].port))
            n = len(port)
            shifts = [self.slow_step(((port[i], port[(i + k) % n]) for i in range(n)), BYTES / n)
                      for k in range(1, n)]
            congested += sum(x > 1.5 * BYTES / n / EDR for x in shifts)
            self.expect('all-reduce-ring', 2 * (n - 1) * shifts[0], *options)
            self.expect('all-to-all-pairwise', sum(shifts), *options)
            self.expect('all-to-all', self.slow_step(
                ((a, b) for a in port for b in port if a != b), BYTES / n), *options)
            if n & n - 1 == 0:
                self.expect('all-reduce-doubling', sum(
                    self.slow_step(((port[i], port[i ^ 1 << k]) for i in range(n)), BYTES)
                    for k in range(n.bit_length() - 1)), *options)
        must(congested > 0, 'no congestion')

    # ---- random patterns, missing entries -------------------------------------------------------

    def moe(self):
        """With a great skew, nearly all tokens go to one expert.  With none, each gets about as
        many."""
        s = BYTES / EDR
        self.make('1;16;1;1')
        x = self.run('moe', '--latency=0us', '--seed=7', '--skew=10')[1].seconds
        must(0.98 * 15 * s < x <= 15 * s, f'skew 10: {x} s')
        x = self.run('moe', '--latency=0us', '--seed=7', '--skew=0')[1].seconds
        must(0.9 * s < x < 1.4 * s, f'skew 0: {x} s')

    def sample(self):
        """A sample of the shifts has the steps of all; on a complete tree also the same time."""
        self.make('3;4,4,4;1,4,4;1,1,1')
        some, every = (self.run('all-to-all-pairwise', f'--sample={n}')[1] for n in (10, 0))
        must((some.counted, every.counted, some.steps, every.steps) == (10, 63, 63, 63),
             f'{some.counted} of {every.counted} steps')
        must(abs(some.seconds - every.seconds) < 1e-9, f'{some.seconds}, {every.seconds} s')

    def lost(self):
        """A missing entry loses flows."""
        self.make('1;4;1;1')
        subprocess.run([self.command, 'route', self.net, '-o', self.lfts], check=True,
                       stderr=subprocess.DEVNULL)
        ranks, _ = self.run('halo')
        with open(self.lfts, encoding='utf-8') as file:
            lines = [line for line in file if not line.startswith(f'0x{int(ranks.port[0]):04X}')]
        with open(self.lfts, 'w', encoding='utf-8') as file:
            file.writelines(lines)
        lost = self.run('all-to-all', f'--tables={self.lfts}')[1].lost
        must(lost == 3, f'{lost} lost')


def main():
    os.environ['IBFATTREE'] = sys.argv[1]
    test = Test(*sys.argv[1:4])
    for name in ('crossbar', 'tree', 'rails', 'slow', 'moe', 'sample', 'lost'):
        try:
            getattr(test, name)()
        except Failed as error:
            sys.exit(f'{name}: {error}')


if __name__ == '__main__':
    main()
