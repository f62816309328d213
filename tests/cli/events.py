#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Tests the reader of events files of ibfattree sim with the files of tests/fuzz/corpus/events.tar.xz,
and with random changes of their lines.  Each file is read, and its changes are in range, or is refused
with one line that names the file.

    events.py IBFATTREE IBFATTREE-SIM DIRECTORY
"""
import importlib.machinery
import importlib.util
import json
import os
import random
import subprocess
import sys
import tarfile

sys.dont_write_bytecode = True
MUTATIONS = 4000
CORPUS = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../fuzz/corpus/events.tar.xz')
# what a number or a word is replaced by
WORDS = (b'0', b'-1', b'255', b'256', b'49152', b'1e999', b'NaN', b'18446744073709551616', b'null', b'true',
         b'"x"', b'{}', b'[]', b'"0x0200010000000000"', b'')


class Failed(Exception):
    pass


def load(path):
    loader = importlib.machinery.SourceFileLoader('sim', path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader('sim', loader))
    loader.exec_module(module)
    return module


def parts_of(ibfattree, directory):
    net = os.path.join(directory, 'events.net')
    subprocess.run([ibfattree, 'gen', '2;2,2;1,2;1,1', '-o', net], check=True)
    done = subprocess.run([ibfattree, 'simulate', '--parts', '--load=0', '--duration=1', '--rate=1', net],
                          check=True, stdout=subprocess.PIPE)
    return json.JSONDecoder().raw_decode(done.stdout.decode())[0]['switches']


def check_range(sim, switches, events):
    for record in events.records(0):
        at, letter, switch, kind, port, lid = record.split()
        switch, kind, port, lid = map(int, (switch, kind, port, lid))
        if int(at) < 0 or letter != 'c' or not 0 <= switch < len(switches):
            raise Failed(record)
        if kind == sim.ENTRY:
            if lid > sim.LID_MAX or switches[switch]['ports'] < port != 255:
                raise Failed(record)
        elif kind not in (sim.LINK_DOWN, sim.LINK_UP) or port not in switches[switch]['linked']:
            raise Failed(record)


def read(sim, switches, path, text):
    """Returns whether the file is accepted."""
    with open(path, 'wb') as file:
        file.write(text)
    try:
        events = sim.Events(path, switches, sim.CHANGES_MAX).read()
    except sim.Failure as failure:
        if not str(failure).startswith(f'{path}:') or '\n' in sim.common.HIDDEN.sub('?', str(failure)):
            raise Failed(str(failure)) from failure
        return False
    check_range(sim, switches, events)
    return True


def change(draw, text):
    """Replaces a number or a word, or changes a byte, or cuts the text."""
    kind, at = draw.randrange(4), draw.randrange(len(text) + 1)
    if kind == 0:
        return text[:at]
    if kind == 1:
        return text[:at] + bytes([draw.randrange(256)]) + text[at + 1:]
    end = at
    while end < len(text) and text[end:end + 1] not in b',]}:':
        end += 1
    begin = max(text.rfind(mark, 0, at) for mark in (b',', b'[', b'{', b':')) + 1
    return text[:begin] + draw.choice(WORDS) + text[end:]


def main():
    ibfattree, program, directory = sys.argv[1:]
    sim, switches = load(program), parts_of(ibfattree, directory)
    path, draw, accepted = os.path.join(directory, 'events'), random.Random(1), [0, 0]
    with tarfile.open(CORPUS) as corpus:
        files = [corpus.extractfile(entry).read() for entry in corpus if entry.isfile()]
    guid = switches[0]['guid']
    files.append(json.dumps({'event': 'link-down', 'time': 1.5, 'cables': [
        {'guid': guid, 'port': switches[0]['linked'][-1]}], 'sets': [
            {'ms': 0.5, 'guid': guid, 'lids': [[1, 3], [2, 255]]}]}).encode())
    for text in files:
        accepted[read(sim, switches, path, text)] += 1
    for _ in range(MUTATIONS):
        accepted[read(sim, switches, path, change(draw, draw.choice(files)))] += 1
    if min(accepted) < 100:
        raise Failed(f'{accepted[0]} files are refused, {accepted[1]} accepted')


if __name__ == '__main__':
    main()
