# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Reads the files of "ibfattree topo --export" as the documentation of each simulator describes them,
follows the route between every two hosts, and prints the loads of the links between switches in
all-to-all: maximum, sum, and number of links with a load.

    exports.py sst|loggopsim FILE
    exports.py codes DIRECTORY SST-FILE NETFILE     the tables of CODES, with the links of SST/macro
    exports.py links FILE                           prints hosts, switches, links, and the rates
"""
import collections
import json
import os
import re
import sys


def count(hosts, route):
    """route(a, b) yields the links between switches."""
    load = collections.Counter()
    for a in hosts:
        for b in hosts:
            if a != b:
                load.update(route(a, b))
    print(max(load.values()), sum(load.values()), len(load))


def sst(path, routes=None):
    """topology/file.cc and router/table_routing.cc of SST/macro: objects sorted by key; ports are keys
    of "outports"; every switch must have a route to every node."""
    with open(path, encoding='utf-8') as file:
        data = json.load(file)
    switches, nodes = data['switches'], data['nodes']
    assert isinstance(data['avg_num_hops'], int)
    for name, switch in switches.items():
        assert set(switch['routes']) == set(nodes), name
        for port, link in switch['outports'].items():       # both ends agree
            far = switches.get(link['destination']) or nodes[link['destination']]
            assert far['outports'][str(link['inport'])] == \
                {'destination': name, 'inport': int(port)}, (name, port)

    def route(a, b):
        assert len(nodes[a]['outports']) == 1
        at = nodes[a]['outports']['0']['destination']
        while at in switches:
            port = (routes or {}).get(at, switches[at]['routes'])[b]
            far = switches[at]['outports'][str(port)]['destination']
            if far in switches:
                yield at, port
            at = far
        assert at == b
    count(nodes, route)


def loggopsim(path):
    """Network.hpp of LogGOPSim: names of hosts begin with H, and their order gives the ranks; the
    comment of an edge is "*" or the list of the hosts behind it."""
    with open(path, encoding='utf-8') as file:
        text = file.read()
    assert re.match(r'digraph \w+ \{\n', text) and text.endswith('}\n')
    names = re.findall(r'^  (\w+);$', text, re.M)
    edges = re.findall(r'^  (\w+) -> (\w+) \[comment="([^"]*)"\];$', text, re.M)
    assert len(names) + len(edges) + 2 == text.count('\n')
    out, table = collections.defaultdict(list), collections.defaultdict(dict)
    for number, (a, b, comment) in enumerate(edges):
        assert a in names and b in names
        out[a].append((number, b))
        for host in comment.split(',') if comment not in ('*', '') else []:
            table[a].setdefault(host, (number, b))
    hosts = [name for name in names if name[0] == 'H']

    def route(a, b):
        at = a
        while at != b:
            number, far = out[at][0] if len(out[at]) == 1 else table[at][b]
            if at[0] != 'H' and far[0] != 'H':
                yield number
            at = far
    count(hosts, route)


def codes(directory, links, netfile):
    """fattree.c of CODES: a file 0xGUID.lft for each switch, lines "0xGUID port", ports from 1; every
    switch has an entry for every terminal."""
    names = {}
    with open(netfile, encoding='utf-8') as file:
        for ident, name in re.findall(r'^(?:Switch|Ca)\s+\d+ "\w-(\w{16})"\s+# "([^"]*)"', file.read(),
                                      re.M):
            names[int(ident, 16)] = name.replace(' ', '_')
    routes = {}
    for file_name in os.listdir(directory):
        guid = int(re.fullmatch(r'0x(\w{16})\.lft', file_name)[1], 16)
        with open(os.path.join(directory, file_name), encoding='ascii') as file:
            pairs = [line.split() for line in file]
        routes[names[guid]] = {names[int(a, 16)]: int(b) for a, b in pairs}
        assert len(pairs) == len(routes[names[guid]])
    sst(links, routes)


def ns3(path):
    """Topology files of the simulator of HPCC: "nodes switches links", the numbers of the switches,
    and a line "from to rate delay error-rate" for each link."""
    with open(path, encoding='ascii') as file:
        lines = [line.split() for line in file]
    nodes, switches, links = map(int, lines[0])
    inner = {int(word) for word in lines[1]}
    assert len(inner) == switches and len(lines) == links + 2
    between = 0
    for a, b, rate, delay, errors in lines[2:]:
        assert 0 <= int(a) < nodes and 0 <= int(b) < nodes and a != b and errors == '0'
        assert re.fullmatch(r'[\d.]+Gbps', rate) and re.fullmatch(r'\d+ns', delay)
        between += int(a) in inner and int(b) in inner
    print(nodes - switches, switches, between, *sorted({line[2] for line in lines[2:]}))


{'sst': sst, 'loggopsim': loggopsim, 'codes': codes, 'links': ns3}[sys.argv[1]](*sys.argv[2:])
