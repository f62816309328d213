#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Tests the lists of links that ibfattree topo converts to netfiles: what arrives in the netfile;
refused files, with the messages of the command; files cut at every byte; files with random changes.

    lists.py IBFATTREE IBFATTREE-TOPO DIRECTORY
"""
import importlib.machinery
import importlib.util
import io
import os
import random
import subprocess
import sys

sys.dont_write_bytecode = True
MUTATIONS = 4000


def lst_end(kind, guid, port_guid, name, lid, port):
    guid, port_guid = f'{guid:016x}', f'{port_guid:016x}'
    ports = '04' if kind == 'SW' else '02'
    return (f'{{ {kind} Ports:{ports} SystemGUID:{guid} NodeGUID:{guid} PortGUID:{port_guid} '
            f'VenID:000000 DevID:0000 Rev:000000A1 {{{name}}} LID:{lid:04X} PN:{port:02X} }} ')


def leaf(port):
    return lst_end('SW', 0x10, 0x10, 'leaf {1}', 1, port)


STATE = 'PHY=4x LOG=ACT SPD=25\n'
SPINE = lst_end('SW', 0x20, 0x20, 'spine', 2, 3)
HOST = lst_end('CA-SM', 0x100, 0x101, 'node1', 10, 1)
LST = f'{leaf(1)}{HOST}{STATE}{leaf(2)}{SPINE}{STATE}{SPINE}{leaf(2)}{STATE}{HOST}{leaf(1)}{STATE}'
LST_NET = '''\
switchguid=0x0000000000000010
#line 1
Switch 4 "0x0000000000000010" # "leaf {1}" lid 1 lmc 0
#line 1
[1] "0x0000000000000100"[1](0000000000000101) # lid 10 4xEDR
#line 2
[2] "0x0000000000000020"[3] # lid 2 4xEDR
caguid=0x0000000000000100
#line 1
Ca 2 "0x0000000000000100" # "node1"
#line 4
[1](0000000000000101) "0x0000000000000010"[1] # lid 10 lmc 0 lid 1 4xEDR
switchguid=0x0000000000000020
#line 2
Switch 4 "0x0000000000000020" # "spine" lid 2 lmc 0
#line 3
[3] "0x0000000000000010"[2] # lid 1 4xEDR
#line 5
'''
PORTS = '''\
START_PORTS
NodeGuid,PortGuid,PortNum,LID,CapMsk,LMC,LinkWidthActv,LinkSpeedActv
0x10,0x10,0,1,N/A,0,N/A,N/A
0x10,0x10,1,0,0x48,0,2,0x200
0x10,0x10,2,0,0x48,0,2,0x400
0x20,0x20,0,2,N/A,0,N/A,N/A
0x20,0x20,3,0,0x48,0,2,0x400
0x100,0x101,1,4,0x48,2,2,0x200
END_PORTS
'''
LINKS = '''\
START_LINKS
NodeGuid1,PortNum1,NodeGuid2,PortNum2
0x10,1,0x100,1
0x10,2,0x20,3
END_LINKS
'''
CSV = f'''\
# a comment
START_NODES
NodeDesc,NumPorts,NodeType,SystemImageGUID,NodeGUID,PortGUID
"leaf, "1"",4,2,0x1,0x10,0x10
"spine",4,2,0x1,0x20,0x20
"node1",1,1,0x1,0x100,0x101
END_NODES
{PORTS}START_EXTENDED_NODE_INFO
anything,"
END_EXTENDED_NODE_INFO
{LINKS}'''
CSV_NET = '''\
switchguid=0x0000000000000010
#line 4
Switch 4 "0x0000000000000010" # "leaf, "1"" lid 1 lmc 0
#line 22
[1] "0x0000000000000100"[1] # 4xEDR
#line 23
[2] "0x0000000000000020"[3] # 4xHDR
switchguid=0x0000000000000020
#line 5
Switch 4 "0x0000000000000020" # "spine" lid 2 lmc 0
#line 23
[3] "0x0000000000000010"[2] # 4xHDR
caguid=0x0000000000000100
#line 6
Ca 1 "0x0000000000000100" # "node1"
#line 22
[1](0000000000000101) "0x0000000000000010"[1] # lid 4 lmc 2 4xEDR
#line 25
'''

# text, from, to, message of the command after the name of the file
REFUSALS = (
    (LST, '{ SW', '{ XX',
     "1: expected SW, CA or Rt, found 'XX Ports:04 SystemGUID:0000000000000010 ...'"),
    (LST, 'Ports:04', 'Ports:4z',
     "1: expected Ports:, found 'Ports:4z SystemGUID:0000000000000010 Nod...'"),
    (LST, 'PN:01 }', 'PN:09 }',
     '1: port 9 of node 0x0000000000000010 does not exist; the node has ports 1..4'),
    (LST, 'PN:01 }', 'PN:01',
     "1: expected '}', found '{ CA-SM Ports:02 SystemGUID:000000000000...'"),
    (LST, 'Ports:04', 'Ports:FF', '1: the node has 255 ports (allowed: 1 to 254)'),
    (LST, 'Ports:04', 'Ports:05',
     '2: node 0x0000000000000010 has node type 2 and ports 1..4 here but node type 2 and ports 1..5 on '
     'line 1 (1: channel adapter, 2: switch, 3: router)'),
    (LST, 'LID:0001', 'LID:0003',
     '2: switch 0x0000000000000010 has LID 1 here but LID 3 on line 1'),
    (LST, 'LID:000A', 'LID:000B', '1: "0x0000000000000100" has LID 11 here but LID 10 on line 4'),
    (LST, 'LID:000A', 'LID:C000', '1: LID 49152 is above the maximum 49151'),
    (LST, 'LID:0001', 'LID:10001',
     "1: expected LID:, found 'LID:10001 PN:01 } { CA-SM Ports:02 Syste...'"),
    (LST, '{leaf {1}}', 'leaf',
     "1: expected {description}, found 'leaf LID:0001 PN:01 } { CA-SM Ports:02 S...'"),
    (LST, 'PortGUID:0000000000000101', 'PortGUID:0000000000000102',
     '1: port 1 of "0x0000000000000100" has GUID 0x0000000000000102 here but 0x0000000000000101 on '
     'line 4'),
    (LST, STATE, '\n', '1: expected PHY=, found the end of the line'),
    (LST, 'LOG=ACT SPD=25', 'LOG=ACT',
     "1: expected PHY=.. LOG=.. SPD=.., found 'PHY=4x LOG=ACT'"),
    (LST, f'{SPINE}{leaf(2)}{STATE}', '',
     '2: port 2 of "0x0000000000000010" is connected to "0x0000000000000020" port 3, but the record '
     'of "0x0000000000000020" (line 2) has no line for that port'),
    (LST, '{node1} LID:000A', '{node1} LID:0001',
     '1: "0x0000000000000100" has LID 1 here but LID 10 on line 4'),
    (CSV, 'NumPorts,', 'Ports,', '3: section NODES has no column NumPorts'),
    (CSV, '"spine",4,2', '"spine",4,9', "5: expected NodeType 0..3, found '9'"),
    (CSV, '"spine",4,2', '"spine",0,2',
     '5: node 0x0000000000000020 has NodeType 2 and NumPorts 0; both must be at least 1'),
    (CSV, '0x1,0x20', '0x1,0x10',
     '5: a second record of "0x0000000000000010", the first is on line 4'),
    (CSV, '0x10,0x10,0,1,', '0x99,0x10,0,1,',
     '10: port 0 of node 0x0000000000000099: the node is not in section NODES'),
    (CSV, '0x10,0x10,0,1,', '0x10,0x10,0,x,', "10: expected LID 0..65535, found 'x'"),
    (CSV, '0x20,0x20,0,2,', '0x20,0x20,0,1,',
     '5: LID 1 of "0x0000000000000020" is also a LID of the node on line 4'),
    (CSV, '0x10,2,0x20,3', '0x10,2,0x20,5',
     '23: port 5 of "0x0000000000000020" does not exist; the node has ports 1..4'),
    (CSV, '0x10,2,0x20,3', '0x10,1,0x20,3',
     '23: port 1 of "0x0000000000000010" is connected to "0x0000000000000020" port 3 here but to '
     '"0x0000000000000100" port 1 on line 22'),
    (CSV, '0x10,2,0x20,3', '0x10,2,0x30,3',
     '23: port 2 of "0x0000000000000010" is connected to "0x0000000000000030", which is not in the '
     'file'),
    (CSV, '0x10,2,0x20,3', '0x11,2,0x30,3',
     '23: a link ends at port 2 of node 0x0000000000000011, which is not in section NODES'),
    (CSV, 'END_NODES\n', '', '7: section NODES, which begins on line 2, has no END_NODES line'),
    (CSV, 'START_NODES\n', 'START_LINKS\n', '2: section LINKS comes before NODES'),
    (CSV, 'START_PORTS\n', 'START_NODES\n', '8: a second section NODES'),
    (CSV, 'END_LINKS\n', '', '23: section LINKS, which begins on line 20, has no END_LINKS line'),
    (CSV, LINKS, '', '19: the file has no section LINKS'),
    (CSV, '0x10,1,0x100,1\n0x10,2,0x20,3\n', '', '22: the file contains no link'),
    (CSV, '"spine"', '"' + 5000 * 'x' + '"',
     "5: line of more than 4096 bytes: '\"" + 39 * 'x' + "...'"),
)

PIECES = (b'"', b',', b'\n', b'{', b'}', b'0x', b'-1', b'4294967296', b'18446744073709551616',
          b'LID:FFFF', b'PN:01', b'START_', b'END_', b' SPD=', b'\r', b'\xff', b'#', b'\xc3\xa4')


class Failed(Exception):
    pass


def must(good, message):
    if not good:
        raise Failed(message)


class Tests:
    def __init__(self, command, topo, directory):
        loader = importlib.machinery.SourceFileLoader('topo', topo)
        spec = importlib.util.spec_from_loader('topo', loader)
        self.topo = importlib.util.module_from_spec(spec)
        loader.exec_module(self.topo)
        self.command, self.file = command, os.path.join(directory, 'list')

    def converted(self, text):
        """The netfile made from these bytes, or None: it is refused with the name of the file."""
        out = io.StringIO()
        try:
            self.topo.put_list('FILE', text.splitlines(keepends=True), out)
        except self.topo.Failure as error:
            must(str(error).startswith('FILE:'), f'{error}: {text}')
            return None
        return out.getvalue()

    def run(self, text, *words):
        with open(self.file, 'wb') as file:
            file.write(text)
        return subprocess.run([self.command, *words, self.file], capture_output=True, check=False)

    def netfiles(self):
        must(self.converted(LST.encode()) == LST_NET, self.converted(LST.encode()))
        must(self.converted(CSV.encode()) == CSV_NET, self.converted(CSV.encode()))
        done = self.run(CSV.encode(), 'topo')
        must(done.stdout.decode() == CSV_NET, done)
        # names that are not UTF-8 arrive as they are; the section PORTS may come last
        odd = CSV.replace(PORTS, '') + PORTS
        done = self.run(odd.encode().replace(b'spine', b'sp\xffn\xc3\xa4'), 'topo')
        must(b'# "sp\xffn\xc3\xa4" lid 2' in done.stdout and b' lid 4 lmc 2 4xEDR' in done.stdout,
             done)
        for masks, rate in (('2,1', '4xSDR'), ('1,2', '1xDDR'), ('8,4', '12xQDR'),
                            ('16,0x100', '2xFDR'), ('4,0x800', '8xNDR'), ('2,0x10000', '4xFDR10'),
                            ('2,0x1000000', '4xXDR'), ('2,0x300', '4x?'), ('N/A,1', '0xSDR')):
            net = self.converted(CSV.replace('2,2,0x200', f'2,{masks}').encode())
            must(f' lid 4 lmc 2 {rate}\n' in net, net)

    def refusals(self):
        for text, old, new, message in REFUSALS:
            must(old in text, old)
            done = self.run(text.replace(old, new, 1).encode(), 'route')
            want = f'ibfattree: {self.file}:{message}\n'
            must(done.returncode == 2 and done.stderr.decode() == want,
                 f'{done.stderr.decode()}, not: {want}')

    def cut(self, text):
        for end in range(1, len(text)):
            net = self.converted(text[:end])
            if end == len(text) - 1:
                must(net == self.converted(text), 'not accepted without the last newline')
            elif net:       # then the command must find that lines are missing
                must(self.run(text[:end], 'route').returncode == 2, f'cut after {end} bytes: {net}')

    def mutations(self, text):
        rng = random.Random(20261129)
        taken = 0
        for _ in range(MUTATIONS):
            changed = bytearray(text)
            for _ in range(rng.randint(1, 3)):
                at, n = rng.randrange(len(changed)), rng.randint(1, 24)
                changed[at:at + rng.choice((0, 1, n))] = rng.choice((
                    b'', bytes([rng.randrange(1, 256)]), changed[at:at + n], rng.choice(PIECES)))
            taken += self.converted(bytes(changed)) is not None
        must(0 < taken < MUTATIONS, f'{taken} of {MUTATIONS} accepted')


def main():
    tests = Tests(*sys.argv[1:])
    try:
        tests.netfiles()
        tests.refusals()
        for text in (LST.encode(), CSV.encode()):
            tests.cut(text)
            tests.mutations(text)
    except Failed as error:
        sys.exit(str(error))


if __name__ == '__main__':
    main()
