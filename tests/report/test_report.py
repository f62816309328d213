#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Tests of ibfattree report: the data of its page, and its files.  tests/consumers/report.sh tests
the page itself with Chromium."""
import base64
import gzip
import hashlib
import html.parser
import importlib.machinery
import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest
import zlib

sys.dont_write_bytecode = True
TOP = os.path.join(os.path.dirname(os.path.realpath(__file__)), '..', '..')
IBFATTREE = os.path.join(os.environ.get('abs_top_builddir', os.path.join(TOP, 'build')),
                         'ibfattree')
os.environ['IBFATTREE'] = IBFATTREE
PROGRAM = f'{TOP}/src/command/report/ibfattree-report'
loader = importlib.machinery.SourceFileLoader('report', PROGRAM)
report = importlib.util.module_from_spec(importlib.util.spec_from_loader('report', loader))
loader.exec_module(report)


class Parts(html.parser.HTMLParser):
    """Collects the scripts, styles and the security policy of a page."""

    def __init__(self, text):
        super().__init__()
        self.open, self.found, self.policy = None, {'script': [], 'style': []}, ''
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.open = tag if tag in self.found else None
        if self.open:
            self.found[tag].append('')
        if attrs.get('http-equiv') == 'Content-Security-Policy':
            self.policy = attrs['content']

    def handle_endtag(self, tag):
        self.open = None

    def handle_data(self, data):
        if self.open:
            self.found[self.open][-1] += data


class Case(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix='ibfattree-report-test.')
        self.addCleanup(directory.cleanup)
        self.dir = directory.name

    def path(self, name):
        return os.path.join(self.dir, name)

    def run_it(self, *words, status=0):
        run = subprocess.run([IBFATTREE, *words], capture_output=True, text=True, check=False)
        self.assertEqual(run.returncode, status, run.stderr)
        return run

    def gen(self, *words, name='f.net'):
        self.run_it('gen', *words, '-o', self.path(name))
        return self.path(name)

    def page(self, *words, status=0):
        """Runs report; returns the data of the page."""
        self.run_it('report', *words, '-o', self.path('f.html'), status=status)
        with open(self.path('f.html'), encoding='utf-8') as file:
            self.parts = Parts(file.read())
        return json.loads(self.parts.found['script'][0])

    def details(self, *words):
        run = self.run_it('whatif', *words, '--json', '--details', self.dir)
        return json.loads(run.stdout)['columns']


class Layout(Case):
    def test_places(self):
        """Every switch is above the leaves of its pod, and no two are at the same place."""
        d = self.page(self.gen('3;3,4,5;1,4,4;1,1,1', '--random-guids', '--random-ports'))
        self.assertEqual(d['about']['width'], 20)
        switches = d['states'][0]['sw']
        self.assertEqual(len({(s[1], s[2]) for s in switches}), len(switches))
        for s in switches:
            rank, first, leaves = d['pods'][s[4]]
            self.assertEqual(rank, s[1])
            self.assertTrue(first < s[2] < first + leaves)
            block = d['blocks'][s[3]]
            self.assertTrue(block[1] < s[2] < block[2])
        for a, _, b, _, _ in d['states'][0]['links']:
            low, up = sorted((switches[a], switches[b]), key=lambda s: s[1])
            first, leaves = d['pods'][up[4]][1:]
            self.assertTrue(first < low[2] < first + leaves)
        for rank, x0, x1, n in d['blocks']:
            self.assertEqual(n, sum(s[1] == rank and x0 < s[2] < x1 for s in switches))

    def test_blocks(self):
        """A block is a pod, or the switches of one plane if a plane has several in a pod."""
        d = self.page(self.gen('kary:4,3', '--random-guids'))
        self.assertEqual(sorted((rank, n) for rank, _, _, n in d['blocks']),
                         [(rank, 4) for rank in (0, 1, 2) for _ in range(4)])
        switches = d['states'][0]['sw']
        tops = [{b for b in range(len(switches)) if switches[b][3] == i}
                for i, block in enumerate(d['blocks']) if block[0] == 2]
        below = [{a if b in top else b for a, _, b, _, _ in d['states'][0]['links']
                  if a in top or b in top} for top in tops]
        self.assertEqual([len(x) for x in below], [4] * 4)
        self.assertEqual(len(set().union(*below)), 16)

    def test_guess(self):
        """Of several possible parents, those with the most unconnected ports are guessed."""
        def switch(ports, rank, parents=1, expected=1):
            return {'ports': ports, 'rank': rank, 'parents': parents,
                    'expected_parents': expected, 'cables_to_parent': 1}
        # 0 and 1 are linked to 2; 1 also to 3, 4, 5; 5 has no unconnected port
        fabric = {'switches': [switch(4, 0, 1, 2), switch(4, 0, 4, 4), switch(4, 1), switch(2, 1),
                               switch(3, 1), switch(1, 1)],
                  'cables': [{'from': a, 'to': b} for a, b in ((0, 2), (1, 2), (1, 3), (1, 4),
                                                               (1, 5))],
                  'end_ports': [], 'absent': [], 'incomplete': [], 'nominal': False}
        self.assertEqual(report.layout.missing_links(fabric), [(0, 4, 1, 1)])
        fabric['switches'][0]['expected_parents'] = 4
        self.assertEqual(report.layout.missing_links(fabric), [(0, 3, 1, 1), (0, 4, 1, 1)])

    def test_missing(self):
        """The missing links are inferred: as many as were removed, at switches that lack links."""
        d = self.page(self.gen('2;6,12;1,6;1,2', '--random-guids', '--random-ports',
                               '--drop-links', '9', '--seed', '7'))
        links = [frozenset((a, b)) for a, _, b, _, _ in d['states'][0]['links']]
        self.assertEqual(sum(n for _, _, n, _ in d['missing']), 9)
        for low, up, n, inferred in d['missing']:
            self.assertEqual(inferred, 1)
            self.assertEqual(links.count(frozenset((low, up))) + n, 2)

    def text(self, name):
        with open(self.path(name), encoding='utf-8') as file:
            return file.read()

    def cut(self, text, guid, to='[0-9a-f]*'):
        """Removes the first link between this switch and another one; writes g.net."""
        record = re.search(f'Switch.*"S-{guid}".*\n(\\[.*\n)+', text)[0]
        line = re.search(f'\\[(\\d+)\\]\t"(S-{to})"\\[(\\d+)\\].*\n', record)
        other = re.search(f'Switch.*"{line[2]}".*\n(\\[.*\n)+', text)[0]
        back = re.search(f'\\[{line[3]}\\]\t"S-{guid}".*\n', other)[0]
        text = text.replace(record, record.replace(line[0], '')).replace(
            other, other.replace(back, ''))
        with open(self.path('g.net'), 'w', encoding='utf-8') as file:
            file.write(text)
        return text

    def test_missing_parent(self):
        """All links to a parent are missing.  Without a nominal fabric, the parent is guessed."""
        text = self.text(self.gen('2;4,6;1,4;1,2'))
        low, up = (re.search(f'"S-(.*)"\t\t# "{name}"', text)[1] for name in ('sw-1-2', 'sw-2-3'))
        self.cut(self.cut(text, low, up), low, up)
        for words, want in (([], [[2, 1]]), (['--nominal', self.path('f.net')], [[1, 0]] * 2)):
            d = self.page(self.path('g.net'), *words)
            self.assertEqual([m[2:] for m in d['missing']], want)
            for a, b, _, _ in d['missing']:
                self.assertEqual([d['states'][0]['sw'][i][0] for i in (a, b)], [low, up])

    def test_missing_after_replacement(self):
        """A switch is replaced by one with another GUID, which lacks one link."""
        text = self.text(self.gen('2;4,4;1,2;1,2'))
        for guid in set(re.findall(r'S-([0-9a-f]{16})', text)):
            for new in ('0000000000000001', 'f' * 16):
                self.cut(text.replace(guid, new), new)
                d = self.page(self.path('g.net'), '--nominal', self.path('f.net'))
                self.assertEqual([m[2:] for m in d['missing']], [[1, 0]], (guid, new))
                self.assertIn(new, [d['states'][0]['sw'][i][0] for i in d['missing'][0][:2]])

    def test_no_leaf_below(self):
        """A switch that is above no leaf is drawn beside the others."""
        text = self.text(self.gen('2;4,4;1,2;1,1'))
        with open(self.path('g.net'), 'w', encoding='utf-8') as file:
            file.write(text + '\nSwitch\t4 "S-00000000000000aa"\t\t# "alone" base port 0 lid 999 '
                       'lmc 0\n')
        d = self.page(self.path('g.net'))
        state = d['states'][0]
        alone = state['sw'][state['names']['sw'].index('alone')]
        self.assertEqual(alone[4], -1)
        self.assertTrue(all(s[2] < alone[2] - 0.5 for s in state['sw'] if s is not alone))
        self.assertLess(alone[2], d['about']['width'])


class Loads(Case):
    TREES = (('2;4,6;1,4;1,1', '--drop-links', '3'), ('kary:3,3', '--random-lids', '--lmc', '1'),
             ('torus:4,3;2', '--random-ports'), ('3;2,3,4;1,2,3;1,2,1', '--drop-hosts', '2'))

    def test_paths(self):
        """The paths in the tables give the loads, losses and worst shift that whatif counts."""
        for tree in self.TREES:
            column = self.details(self.gen(*tree))[0]
            column.update(column['runs'][0])
            column['rows'] = report.read_rows(self.path('0.lfts.gz'))
            state = report.State(column['details'])
            s = report.Set('', state, column)
            guids = [e['guid'] for e in column['details']['end_ports']]
            pairs = s.load([(a, b) for a in guids for b in guids], True)
            self.assertEqual(pairs, s.all_to_all())
            loads = s.loads(None)
            self.assertEqual(loads['shift']['max'], column['load_shift_max'])
            self.assertEqual(set(loads), {'all', 'shift'})
            order, k = column['details']['order'], column['load_shift_worst']
            self.assertEqual(loads['shift']['load'], s.load([
                (guids[order[i]], guids[order[(i + k) % len(order)]])
                for i in range(len(order))], True)['load'])

    def test_missing_entries(self):
        """Flows without an entry are lost.  A switch without a table is a finding."""
        net, lfts = self.gen('2;4,4;1,2;1,1'), self.path('f.lfts')
        self.run_it('route', net, '-o', lfts)
        with open(lfts, encoding='utf-8') as file:
            sections = re.split('(?=^Unicast)', file.read(), flags=re.M)[1:]
        with open(lfts, 'w', encoding='utf-8') as file:
            file.write(''.join(sections[1:]))
        d = self.page(net, '--lfts', lfts, status=1)
        self.assertTrue(d['sets'][0]['about']['bad'])
        load = d['sets'][0]['loads']['all']
        # 4 hosts of the switch send to 15 hosts, and receive from 12
        self.assertEqual((load['flows'], load['lost']), (16 * 15, 4 * 15 + 12 * 4))
        self.assertEqual(d['sets'][0]['about']['name'], lfts)
        self.assertEqual(len(d['sets']), 1)

    def test_missing_table(self):
        """A table is missing that no path needs."""
        net, lfts = self.gen('2;4,4;1,2;1,1'), self.path('f.lfts')
        with open(net, 'a', encoding='utf-8') as file:
            file.write('\nSwitch\t4 "S-00000000000000aa"\t\t# "alone" base port 0 lid 30 lmc 0\n')
        self.run_it('route', net, '-o', lfts)
        with open(lfts, encoding='utf-8') as file:
            text = file.read()
        for words, status in ((text, 0),
                              (re.sub('Unicast.*alone(.*\n)*?.*dumped\n', '', text), 1)):
            with open(lfts, 'w', encoding='utf-8') as file:
                file.write(words)
            d = self.page(net, '--lfts', lfts, status=status)
            self.assertEqual(d['sets'][0]['about']['bad'], bool(status))
            self.assertEqual(d['sets'][0]['loads']['all']['lost'], 0)

    def test_patterns(self):
        net = self.gen('2;4,4;1,4;1,1')
        with open(self.path('pairs'), 'w', encoding='utf-8') as file:
            for i in range(4):
                print(f'"host-{i}" "host-{i + 8}"', file=file)
            print('"host-1" "host-1"', file=file)       # no flow
        d = self.page(net, '--patterns', self.path('pairs'), '--fail', 'sw-1-2', status=1)
        names = d['states'][0]['names']['ep']
        self.assertEqual([[names[i] for i in pair] for pair in d['given']],
                         [[f'host-{i}', f'host-{i + 8}'] for i in range(4)] + [['host-1'] * 2])
        whole, stale, after = (s['loads']['pairs'] for s in d['sets'])
        self.assertEqual((whole['flows'], whole['lost'], whole['max']), (4, 0, 1))
        self.assertEqual((stale['flows'], stale['lost'], stale['max']), (4, 4, 0))
        self.assertEqual((after['flows'], after['lost'], after['max']), (4, 4, 0))

    def test_shift_skips_missing_hosts(self):
        """The worst shift is that of ibfattree load."""
        net = self.gen('2;6,6;1,3;1,1', '--drop-hosts', '5', '--random-ports')
        d = self.page(net)
        self.run_it('route', net, '--balance', 'load', '-o', self.path('f.lfts'))
        shifts = json.loads(self.run_it('load', net, '--lfts', self.path('f.lfts'), '--json')
                            .stdout)['results'][1]
        about = d['sets'][0]['about']
        self.assertEqual((about['shift'], about['shift_max']),
                         (shifts['worst']['number'], shifts['max']))
        self.assertAlmostEqual(about['shift_mean'], shifts['mean_max'], places=4)
        self.assertEqual(len(d['states'][0]['order']), 31)


class Sets(Case):
    def tables(self, d, k):
        """{(switch GUID, host port GUID): port}"""
        state = d['states'][d['sets'][k]['about']['base']]
        columns = sorted(range(len(state['ep'])), key=lambda i: (
            state['ep'][i][1] if state['ep'][i][1] >= 0 else len(state['sw']),
            state['ep'][i][2], i))
        raw = zlib.decompress(base64.b64decode(d['tables'][k]))
        n = len(columns)
        self.assertEqual(len(raw), n * len(state['sw']))
        return {(s[0], state['ep'][e][0]): raw[i * n + j]
                for i, s in enumerate(state['sw']) for j, e in enumerate(columns)}

    def test_tables(self):
        """The page has the tables of the file."""
        net = self.gen('3;3,4,2;1,3,3;1,1,1', '--random-lids', '--random-ports', '--drop-links',
                       '2')
        lfts = self.path('f.lfts')
        self.run_it('route', net, '-o', lfts)
        d = self.page(net, '--lfts', lfts, '--engine', 'sftree')
        self.assertEqual([s['about']['name'] for s in d['sets']], ['sftree', lfts])
        lid = {e[3]: e[0] for e in d['states'][0]['ep']}
        want = {}
        with open(lfts, encoding='utf-8') as file:
            for line in file:
                if line.startswith('Unicast'):
                    guid = line.split('guid 0x')[1][:16]
                elif line.startswith('0x') and int(line[:6], 16) in lid:
                    want[guid, lid[int(line[:6], 16)]] = int(line[7:10])
        here = {key: port for key, port in self.tables(d, 1).items() if port != 255}
        self.assertEqual(here, want)
        self.assertNotEqual(self.tables(d, 0), self.tables(d, 1))

    def test_faults(self):
        d = self.page(self.gen('2;4,6;1,4;1,1'), '--fail', 'sw-2-0', '--fail', 'sw-1-1[1]',
                      '--engine', 'dmodc', '--engine', 'sftree', status=1)
        self.assertEqual([s['about']['name'] for s in d['sets']], [
            'dmodc', 'sftree', 'dmodc, faults, not rerouted', 'dmodc, faults, rerouted'])
        self.assertEqual(d['about']['faults'], ['sw-2-0', 'sw-1-1[1]'])
        state = d['states'][0]
        gone = state['names']['sw'].index('sw-2-0')
        for s in d['sets'][:2]:
            self.assertEqual((s['dead'], s['off']), ([], []))
        for s in d['sets'][2:]:
            self.assertEqual(s['dead'], [i for i, link in enumerate(state['links'])
                                         if gone in (link[0], link[2])])
            self.assertEqual([state['ep'][i][2] for i in s['off']], [1])
            self.assertTrue(all(not s['loads']['all']['load'][2 * i + end]
                                for i in s['dead'] for end in (0, 1)))
        whole, stale, after = (self.tables(d, k) for k in (0, 2, 3))
        here = [key for key in whole if key[0] != state['sw'][gone][0]]
        self.assertEqual([whole[k] for k in here], [stale[k] for k in here])
        self.assertTrue(all(stale[k] == 255 for k in whole if k not in here))
        self.assertGreaterEqual(d['sets'][3]['about']['changed_entries'],
                                sum(whole[k] != after[k] for k in here))
        self.assertIn('dead_ports', d['sets'][2]['check']['findings'])

    def test_diff(self):
        old = self.gen('2;4,6;1,4;1,1', name='old.net')
        new = self.gen('2;4,6;1,4;1,1', '--drop-links', '3', '--drop-hosts', '1', name='new.net')
        d = self.page('--diff', old, new)
        self.assertEqual([s['about']['name'] for s in d['sets']], ['dmodc, old', 'dmodc, new'])
        self.assertEqual([s['about']['base'] for s in d['sets']], [1, 0])
        self.assertEqual([len(s['links']) for s in d['states']], [21, 24])
        self.assertEqual([len(s['ep']) for s in d['states']], [23, 24])
        self.assertEqual([m[3] for m in d['missing']], [0, 0, 0])
        self.run_it('route', old, '--balance', 'load', '-o', self.path('old.lfts'))
        self.run_it('route', new, '--nominal', old, '--balance', 'load',
                    '-o', self.path('new.lfts'))
        entries = json.loads(self.run_it('diff', old, self.path('old.lfts'),
                                         self.path('new.lfts'), '--json', status=1).stdout)
        self.assertEqual(d['sets'][1]['about']['changed_entries'], entries['entries'])
        self.assertGreater(entries['entries'], 0)
        files = self.page('--diff', old, new, '--lfts', self.path('old.lfts'),
                          '--lfts', self.path('new.lfts'))
        self.assertEqual(files['tables'], d['tables'])

    def test_balance(self):
        net = self.gen('2;4,6;1,4;1,1')
        for depth, name in (('off', 'dmodc (balance off)'), ('full', 'dmodc (balance full)')):
            d = self.page(net, '--balance', depth)
            self.assertEqual(d['sets'][0]['about']['name'], name)

    def test_large_page(self):
        """Tables that would make the page too large are left out."""
        d = self.page(self.gen('2;4,6;1,4;1,1'), '--engine', 'dmodc', '--engine', 'sftree')
        most = len(self.parts.found['script'][0])
        self.assertTrue(all(d['tables']))
        size = most + sum(map(len, map(report.read_part, (*report.SCRIPTS, 'page.css'))))
        options, arguments = report.parse([self.path('f.net'), '--engine=dmodc', '--engine=sftree'])
        before = report.PAGE_MAX
        self.addCleanup(setattr, report, 'PAGE_MAX', before)
        for room, want in ((0, ['', '']), (size - len(d['tables'][1]) - 1, [d['tables'][0], ''])):
            report.PAGE_MAX = room
            text = report.make_page(report.Page(options, arguments), None)
            self.assertEqual(json.loads(Parts(text).found['script'][0])['tables'], want)


class Text(Case):
    def test_hostile_names(self):
        """No name ends an element, and the policy admits only the script and the style."""
        with open(self.gen('2;2,2;1,2;1,1'), encoding='utf-8') as file:
            text = file.read()
        text = text.replace('"host-0"', '"</script><script>document.title=1//"').replace(
            '"host-1"', '"<img src=x onerror=alert(1)>"').replace('"sw-1-0"', '"&lt;b&gt;\xff\'"')
        with open(self.path('<img src=x>.net'), 'w', encoding='latin-1') as file:
            file.write(text)
        d = self.page(self.path('<img src=x>.net'), '--engine', 'dmodc')
        self.assertIn('</script><script>document.title=1//', d['states'][0]['names']['ep'])
        self.assertIn("&lt;b&gt;?'", d['states'][0]['names']['sw'])
        self.assertEqual(d['about']['title'], '<img src=x>.net')
        self.assertEqual(len(self.parts.found['script']), 2)
        for kind in ('script', 'style'):
            digest = hashlib.sha256(self.parts.found[kind][-1].encode()).digest()
            self.assertIn(f"{kind}-src 'sha256-{base64.b64encode(digest).decode()}'",
                          self.parts.policy)

    def test_bytes(self):
        """Names of files that are not UTF-8."""
        name = os.fsencode(self.gen('2;2,2;1,2;1,1')) + b'\xff\n'
        os.rename(self.path('f.net'), name)
        run = subprocess.run([IBFATTREE, 'report', name, '-o', self.path('f.html')], check=False)
        self.assertEqual(run.returncode, 0)
        with open(self.path('f.html'), encoding='utf-8') as file:
            self.assertIn('"title":"f.net??"', file.read())

    def test_doctor(self):
        net = self.gen('2;4,6;1,4;1,1', '--drop-links', '2')
        found = self.run_it('doctor', net, '--json').stdout
        with open(self.path('d.json'), 'w', encoding='utf-8') as file:
            file.write(found)
        self.assertEqual(self.page(net, '--doctor', self.path('d.json'))['doctor'],
                         json.loads(found))
        for bad in ('', '{', '[]', '{"command":"doctor"}', '{"command":"doctor","checks":{}}',
                    '{"command":"check","checks":[]}', '[' * 100000, '"\xff"',
                    '{"command":"doctor","checks":[NaN]}', '{"command":"doctor","checks":[1e999]}'):
            with open(self.path('d.json'), 'w', encoding='latin-1') as file:
                file.write(bad)
            run = self.run_it('report', net, '--doctor', self.path('d.json'), status=2)
            self.assertEqual(run.stderr, f'ibfattree: {self.path("d.json")}: '
                             'not the output of ibfattree doctor --json\n')


class Options(Case):
    def test_errors(self):
        net = self.gen('2;2,2;1,2;1,1')
        usage = 'usage: ibfattree report [OPTION...] [OLD] FABRIC'
        none = self.path('none')
        for words, message in (
                ('', f'report: missing argument; {usage}'),
                ('a b c', f"report: 'c' is one argument too many; {usage}"),
                ('--foo a', "report: unknown option '--foo' (ibfattree report --help lists the "
                 'options)'),
                ('-x', "report: unknown option '-x' (ibfattree report --help lists the options)"),
                ('a --seed', 'report: --seed expects a value: N'),
                ('a --diff=b', "report: --diff takes no value, but 'b' is given"),
                ('a ' + '--fail=1links ' * 65, 'report: --fail 1links: the option may be given at '
                 'most 64 times'),
                ('a b', 'report: two fabrics require --diff'),
                ('--diff a', 'report: --diff expects two fabrics, OLD and FABRIC'),
                ('--diff a b --fail c',
                 'report: --diff cannot be combined with --fail or --nominal'),
                ('--diff a b --lfts c', 'report: --diff expects one engine, or --lfts twice: of '
                 'OLD, then of FABRIC'),
                (f'{net} --engine foo',
                 "report: unknown engine 'foo' (ibfattree --help lists the engines)"),
                (f'{net} --seed=x', "report: --seed expects a number, not 'x'"),
                (f'{net} --balance x', "report: --balance expects off|load|full, not 'x'"),
                (f'{net} --fail 101%links', '--fail 101%links: more than 100 percent'),
                (f'{none} --engine dmodc', f'cannot open {none}: No such file or directory'),
                (f'{net} --lfts {none}', f'cannot open {none}: No such file or directory'),
                (f'{net} --doctor {none}', f'{none}: No such file or directory'),
                (f'{net} -o {none}/f', f'{none}/f: cannot create: No such file or directory'),
                (f'{net} -o {self.dir}', f'{self.dir}: cannot replace: Is a directory'),
                (f'{net} -o /dev/full', '/dev/full: cannot write: No space left on device')):
            run = self.run_it('report', *words.split(), status=2)
            self.assertEqual((run.stdout, run.stderr), ('', f'ibfattree: {message}\n'), words)
        with open('/dev/full', 'w', encoding='utf-8') as full:
            run = subprocess.run([IBFATTREE, 'report', net], stdout=full, text=True,
                                 stderr=subprocess.PIPE, check=False)
        self.assertEqual((run.returncode, run.stderr),
                         (2, 'ibfattree: stdout: cannot write: No space left on device\n'))

    def test_notes(self):
        """A note that several runs print appears once."""
        net, roots = self.gen('2;2,2;1,2;1,1'), self.path('roots')
        with open(roots, 'w', encoding='utf-8') as file:
            file.write('0x1\n')
        run = self.run_it('report', net, '--roots', roots, '--engine', 'dmodc', '--engine',
                          'sftree')
        self.assertEqual(run.stderr, 'ibfattree: note: --roots names no switch of the fabric; '
                         'ranks are inferred\n')

    def test_no_command(self):
        env = {k: v for k, v in os.environ.items() if k != 'IBFATTREE'} | {'PATH': '/nowhere'}
        for more, message in (({}, 'report: the command ibfattree is not installed; the variable '
                               'IBFATTREE may name it'),
                              ({'IBFATTREE': '/none'}, 'report: /none: No such file or directory')):
            run = subprocess.run([sys.executable, '-B', PROGRAM, 'f.net'], env=env | more,
                                 text=True, capture_output=True, check=False)
            self.assertEqual((run.returncode, run.stderr), (2, f'ibfattree: {message}\n'))


class Files(Case):
    def report(self, name):
        self.run_it('report', self.path('f.net'), '-o', self.path(name))

    def test_replaced(self):
        self.gen('2;2,2;1,2;1,1')
        with open(self.path('f.html'), 'w', encoding='utf-8') as file:
            file.write('old')
        os.chmod(self.path('f.html'), 0o640)
        os.symlink('f.html', self.path('link'))
        inode = os.stat(self.path('f.html')).st_ino
        self.report('link')
        self.assertTrue(os.path.islink(self.path('link')))
        self.assertNotEqual(os.stat(self.path('f.html')).st_ino, inode)
        self.assertEqual(os.stat(self.path('f.html')).st_mode & 0o777, 0o640)
        self.report('new.html')
        mask = os.umask(0)
        os.umask(mask)
        self.assertEqual(os.stat(self.path('new.html')).st_mode & 0o777, 0o666 & ~mask)
        self.report('f.html.gz')
        with gzip.open(self.path('f.html.gz')) as file, open(self.path('f.html'), 'rb') as same:
            self.assertEqual(file.read(), same.read())
        self.assertEqual(sorted(os.listdir(self.dir)),
                         ['f.html', 'f.html.gz', 'f.net', 'link', 'new.html'])

    def test_unfinished(self):
        """If the file cannot be written, or a signal ends the program, the old file stays."""
        self.gen('2;2,2;1,2;1,1')
        path = self.path('f.html')
        with open(path, 'w', encoding='utf-8') as file:
            file.write('old')
        run = subprocess.run(['bash', '-c', 'trap "" XFSZ; ulimit -f 1; exec "$@"', 'bash',
                              sys.executable, '-B', PROGRAM, self.path('f.net'), '-o', path],
                             env=os.environ | {'LLVM_PROFILE_FILE': '/dev/null'},  # counters are too large, too
                             capture_output=True, text=True, check=False)
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertIn('File too large', run.stderr)
        # whatif waits for the pipe
        os.mkfifo(self.path('pipe'))
        with subprocess.Popen([sys.executable, '-B', PROGRAM, self.path('pipe'), '-o', path],
                              env=os.environ | {'TMPDIR': self.dir}) as program:
            with open(self.path('pipe'), 'w', encoding='utf-8'):
                self.assertTrue(any(name.startswith('ibfattree-report.')
                                    for name in os.listdir(self.dir)))
                program.send_signal(signal.SIGTERM)
                self.assertEqual(program.wait(), -signal.SIGTERM)
        with open(path, encoding='utf-8') as file:
            self.assertEqual(file.read(), 'old')
        self.assertEqual(sorted(os.listdir(self.dir)), ['f.html', 'f.net', 'pipe'])


if __name__ == '__main__':
    unittest.main()
