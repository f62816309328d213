#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Tests of ibfattree doctor: every check must find the fault for which it was made.

FAULTS has one fault for each check except "sm-version", which only lists the nodes with a subnet
manager, and "drains" and "sm-reach", which tests/cli/run and tests/sim/doctor.sh test."""
import importlib.machinery
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import types
import unittest

sys.dont_write_bytecode = True
TOP = os.path.join(os.path.dirname(os.path.realpath(__file__)), '..', '..')
BUILD = os.environ.get('abs_top_builddir', os.path.join(TOP, 'build'))
IBFATTREE = os.path.join(BUILD, 'ibfattree')
os.environ['IBFATTREE'] = IBFATTREE
PROGRAM = f'{TOP}/src/command/doctor/ibfattree-doctor'
loader = importlib.machinery.SourceFileLoader('doctor', PROGRAM)
doctor = importlib.util.module_from_spec(importlib.util.spec_from_loader('doctor', loader))
loader.exec_module(doctor)
from check_fabric import ERROR_COUNTERS, FLAP_COUNTERS, LINK_UP, SM_STATES   # noqa: E402
from check_tables import best_engine        # noqa: E402
from fabric import SPEEDS, SWITCH, Fabric   # noqa: E402
CHECKS = {name: check for name, _, check in doctor.CHECKS}
MLX5, ACTIVE = 'mlx5_0', 4


def run(*words):
    done = subprocess.run([IBFATTREE, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


class Node:
    """A sound node."""
    umad = verbs = True
    kernel, error, virtual, speed = '6.1.0-18-amd64', 0, 0, (4096, 4096)

    def __init__(self):
        self.list = [(MLX5, 'MT4123', '20.1', 1)]
        self.found = types.SimpleNamespace(adapter=MLX5, portnum=1, state=ACTIVE, rate=100,
                                           link_layer='InfiniBand', base_lid=1, sm_lid=1,
                                           prefix=0xfe80000000000000)

    def adapters(self):
        return self.list

    def port(self):
        return self.found

    def open_error(self):
        return self.error

    def virtual_functions(self, _):
        return self.virtual

    def mtu(self, _):
        return self.speed


class Tables:
    """The tables of a fabric file, as text."""

    def __init__(self, path):
        self.path = path
        with open(path, encoding='ascii') as file:
            self.lines = file.read().split('\n')

    def set(self, guid, lid, port):
        """The entry of a switch for a LID; port None: there is none."""
        start = next(i for i, line in enumerate(self.lines) if f' guid {guid} (' in line)
        at = next(i for i in range(start, len(self.lines))
                  if self.lines[i].startswith(f'0x{lid:04x} '))
        self.lines[at] = f'0x{lid:04x} {255 if port is None else port:03} : (planted)'

    def write(self):
        with open(self.path, 'w', encoding='ascii') as file:
            file.write('\n'.join(self.lines))


class Case(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix='ibfattree-doctor-test.')
        self.addCleanup(directory.cleanup)
        self.dir = directory.name
        self.d = types.SimpleNamespace(
            options=doctor.parse([])[0], path=None, command=IBFATTREE, node=Node(), tables=[],
            best=None, guids=dict.fromkeys(('roots', 'cn', 'io')), facts=None)
        for name in ('opensm', 'plugin'):
            self.d.options[name] = self.file(name, b'\x7fELF\0OpenSM x\0OpenSM 3.3.23\0')
        self.d.conf = self.conf('event_plugin_name ibfattree\nrouting_engine dmodc\n'
                                f'event_plugin_options ibfattree:{self.dir}/plugin.conf\n')

    def path(self, name):
        return os.path.join(self.dir, name)

    def file(self, name, data):
        with open(self.path(name), 'wb') as file:
            file.write(data)
        return self.path(name)

    def conf(self, text):
        return doctor.node.Conf(self.file('opensm.conf', text.encode()))

    def use(self, shape='2;4,4;1,4;1,1', *words):
        """Generates a fabric, and tables by dmodc."""
        run('gen', shape, '--seed', '7', *words, '-o', self.path('f.net'))
        if not shape.startswith('torus'):
            run('route', self.path('f.net'), '-o', self.path('f.lfts'))

    def edit(self, pattern, text):
        with open(self.path('f.net'), encoding='utf-8') as file:
            old = file.read()
        new = re.sub(pattern, text, old)
        self.assertNotEqual(old, new)
        self.file('f.net', new.encode())

    def read(self, *words, engines=False):
        """The facts, as from a sound running fabric."""
        words = [f'--lfts={self.path("f.lfts")}', *words] + ['--engines'] * engines
        facts = json.loads(run('facts', self.path('f.net'), *words))
        top = facts['fabric']['max_lid']
        guid = [s['guid'] for s in facts['switches']]
        ends = [(guid[c[a]], c[b]) for c in facts['cables']
                for a, b in (('from', 'from_port'), ('to', 'to_port'))]
        for e in facts['end_ports']:
            ends += [(guid[e['switch']], e['port']), (e['guid'], e['own_port'])]
        facts['live_ports'] = [
            {'guid': g, 'port': port, 'state': ACTIVE, 'physical_state': LINK_UP,
             'widths': 3, 'speeds': 7, 'extended_speeds': 3, 'vls': 4, 'counters': {}}
            for g, port in ends]
        facts['live_switches'] = [{'guid': g, 'lft_cap': 49152, 'lft_top': top, 'adaptive': False}
                                  for g in guid]
        facts['sms'] = [{'guid': facts['end_ports'][i]['guid'], 'name': SM_STATES[state],
                         'lid': facts['end_ports'][i]['lid'], 'state': state, 'priority': 1,
                         'unreached_from': []} for i, state in ((3, 3), (4, 2))]
        facts.update(m_key='0x0000000000000000', no_counters=0, no_adaptive=0)
        self.d.facts = facts
        self.d.fabric = Fabric(facts)

    def sound(self):
        self.use()
        self.read()

    def up_port(self):
        """PortInfo of a switch port to another switch."""
        f = self.d.fabric
        return f.near(next(link for link in f.links if link.kind == SWITCH))

    def verdict(self, name):
        self.r = r = doctor.Result(name)
        CHECKS[name](self.d, r)
        self.assertTrue(r.text)
        # only a warning or a failure has a remedy
        self.assertEqual(bool(r.remedy), r.verdict in (doctor.WARNING, doctor.FAILURE), r.text)
        return r.verdict

    def tables(self, change):
        """Changes tables.  change gets them, and the facts."""
        self.use()
        self.read()
        tables = Tables(self.path('f.lfts'))
        change(tables, self.d.facts)
        tables.write()


# ---- faults -------------------------------------------------------------------------------------
# Functions of a test with a sound node and fabric.

def bad_kernel(t):
    t.d.node.kernel = '6.11.2-amd64'


def other_plugin(t):
    t.d.options['plugin'] = t.file('plugin', b'OpenSM 3.3.24\0')


def engine_alone(t):
    t.d.conf = t.conf('routing_engine updn,dmodc\n')


def no_adapter(t):
    t.d.node.list = []


def no_module(t):
    t.d.node.error = 2          # ENOENT


def no_permission(t):
    t.d.node.error = 13         # EACCES


def port_down(t):
    t.d.node.found.state = 1


def small_mtu(t):
    t.d.node.speed = 2048, 4096


def table_missing(t):
    t.d.facts['without_table'] = 1


def m_key_set(t):
    t.d.facts['m_key'] = '0x1234'


def two_masters(t):
    t.d.facts['sms'][1]['state'] = 3


def no_standby(t):
    del t.d.facts['sms'][1]


def silent_node(t):
    guid = t.d.facts['switches'][0]['guid']
    t.d.facts['live_ports'].append({'guid': guid, 'port': 200, 'physical_state': LINK_UP})
    t.d.fabric = Fabric(t.d.facts)


def not_active(t):
    t.up_port()['state'] = 2


def flapping(t):
    t.up_port()['counters']['LinkDowned'] = 11


def bad_cable(t):
    t.up_port()['counters']['SymbolErrors'] = 11


def small_table(t):
    t.d.facts['live_switches'][2]['lft_cap'] = t.d.facts['fabric']['max_lid']


def low_top(t):
    t.d.facts['live_switches'][1]['lft_top'] -= 1


def one_vl(t):
    t.up_port()['vls'] = 1


def adaptive(t):
    t.d.facts['live_switches'][1]['adaptive'] = True


def rated(rate):
    def plant(t):
        cable = t.d.facts['cables'][0]
        cable.update(rate)
        t.d.fabric = Fabric(t.d.facts)
    return plant


def other_guids(t):
    t.d.guids['roots'] = t.file('roots', b'0x1234\n')
    t.read(f'--roots={t.path("roots")}')


def no_ranks(t):
    t.use('torus:5,5')
    t.file('f.lfts', b'')
    t.d.facts = json.loads(run('facts', t.path('f.net')))


def link_missing(t):
    t.use('2;4,4;1,4;1,1', '--drop-links', '1')
    t.read()


def crossed_rails(t):
    """Two adapters of a GPU node have exchanged their cables."""
    t.use('superpod:H100:1')
    for old, new in (('mlx5_4', 'X'), ('mlx5_9', 'mlx5_4'), ('X', 'mlx5_9')):
        t.edit(f'dgx-0007 {old}"', f'dgx-0007 {new}"')
    t.read()


def twin_ports(t):
    """Two ports of one leaf belong to the same host."""
    leaf = t.d.facts['end_ports'][0]['switch']
    pair = [e['name'] for e in t.d.facts['end_ports'] if e['switch'] == leaf][:2]
    for i, name in enumerate(pair):
        t.edit(f'"{name}"', f'"twin mlx5_{i}"')
    t.read()


def entry_missing(t):
    def change(tables, facts):
        a, b = facts['end_ports'][12], facts['end_ports'][0]
        tables.set(facts['switches'][a['switch']]['guid'], b['lid'], None)
    t.tables(change)
    t.read()


def loop(t):
    def change(tables, facts):
        c, lid = facts['cables'][0], facts['end_ports'][-1]['lid']
        tables.set(facts['switches'][c['from']]['guid'], lid, c['from_port'])
        tables.set(facts['switches'][c['to']]['guid'], lid, c['to_port'])
    t.tables(change)
    t.read()


def credit_loop(t):
    for name, golden in (('f.net', 'ring.net'), ('f.lfts', 'ring-clockwise.lfts')):
        with open(f'{TOP}/tests/cli/golden/{golden}', 'rb') as file:
            t.file(name, file.read())
    t.read()


def all_on_one_spine(t):
    def change(tables, facts):
        up = {}
        leaves = {e['switch'] for e in facts['end_ports']}
        for c in facts['cables']:
            for near, port in ((c['from'], c['from_port']), (c['to'], c['to_port'])):
                up.setdefault(near, port)
        for e in facts['end_ports']:
            for leaf in leaves - {e['switch']}:
                spines = [c for c in facts['cables'] if leaf in (c['from'], c['to'])]
                first = min(spines, key=lambda c: c['from'] + c['to'])
                port = first['from_port'] if first['from'] == leaf else first['to_port']
                tables.set(facts['switches'][leaf]['guid'], e['lid'], port)
    t.tables(change)
    t.read(engines=True)


FAULTS = {
    'adapter': no_adapter, 'module': no_module, 'permission': no_permission, 'port': port_down,
    'mtu': small_mtu, 'plugin': other_plugin, 'config': engine_alone, 'known-faults': bad_kernel,
    'fabric': table_missing, 'm-key': m_key_set, 'sm': two_masters, 'standby': no_standby,
    'silent': silent_node, 'link-state': not_active, 'link-width': rated({'width': 1}),
    'link-speed': rated({'speed': 'FDR'}), 'link-flaps': flapping, 'link-errors': bad_cable,
    'lft-capacity': small_table, 'lft-top': low_top, 'vls': one_vl, 'adaptive': adaptive,
    'files': other_guids, 'ranks': no_ranks, 'links-missing': link_missing,
    'rails': crossed_rails, 'host-ports': twin_ports, 'pairs': entry_missing, 'loops': loop,
    'credit-loops': credit_loop, 'balance': all_on_one_spine,
}


class Checks(Case):
    def test_sound(self):
        """"files" has no files to check here, and "sm-version" checks nothing."""
        self.use()
        self.read(engines=True)
        for name in CHECKS:
            with self.subTest(name):
                self.assertEqual(self.verdict(name), doctor.NOT_CHECKED
                                 if name in ('files', 'sm-version') else doctor.OK, self.r.text)
        self.assertEqual(self.d.best, 'dmodc')

    def test_planted(self):
        self.assertEqual(set(CHECKS) - set(FAULTS), {'sm-version', 'drains', 'sm-reach'})
        for name, plant in FAULTS.items():
            with self.subTest(name):
                self.setUp()
                self.sound()
                plant(self)
                self.assertIn(self.verdict(name), (doctor.WARNING, doctor.FAILURE), self.r.text)

    def test_sm_version(self):
        self.sound()
        self.assertEqual(self.verdict('sm-version'), doctor.NOT_CHECKED)
        self.assertEqual([text.split()[0] for text, _, _ in self.r.details],
                         ['"master"', '"standby"'])

    def test_lft_capacity(self):
        """Entries 0 to max_lid are needed.  lft-top does not report the same switch again."""
        self.sound()
        switch, top = self.d.facts['live_switches'][2], self.d.facts['fabric']['max_lid']
        switch['lft_cap'] = top + 1
        self.assertEqual(self.verdict('lft-capacity'), doctor.OK)
        switch['lft_cap'], switch['lft_top'] = top, 1
        self.assertEqual(self.verdict('lft-capacity'), doctor.FAILURE)
        self.assertEqual(self.r.n, 1)
        self.assertEqual(self.verdict('lft-top'), doctor.OK)

    def test_sm_reach(self):
        self.sound()
        self.d.facts['sms'][0]['unreached_from'] = [1]
        self.assertEqual(self.verdict('sm-reach'), doctor.FAILURE)
        self.assertEqual(self.r.n, 1)
        self.assertIn('"master"', self.r.details[0][0])
        self.d.facts['sms'] = []
        self.assertEqual(self.verdict('sm-reach'), doctor.NOT_CHECKED)

    def test_link_counters(self):
        """Each counter has its own check and limit; the 4-bit counters end at 15."""
        self.sound()
        values = self.up_port()['counters']
        for name in (*FLAP_COUNTERS, *ERROR_COUNTERS):
            own, other = ('link-flaps', 'link-errors') if name == 'LinkDowned' else \
                ('link-errors', 'link-flaps')
            values[name] = 10
            self.assertEqual(self.verdict(own), doctor.OK)
            values[name] = 11
            self.assertEqual(self.verdict(other), doctor.OK)
            self.assertEqual(self.verdict(own), doctor.WARNING)
            self.assertTrue(self.r.details[0][0].endswith(f': {name}=11'), self.r.details)
            self.assertIn('ibfattree drain', self.r.remedy)
            del values[name]
        values.update(LocalLinkIntegrityErrors=15, SymbolErrors=7000)
        self.assertEqual(self.verdict('link-errors'), doctor.WARNING)
        self.assertIn(' SymbolErrors=7000 LocalLinkIntegrityErrors=15 or more',
                      self.r.details[0][0])
        self.d.options['errors'] = 7000
        self.assertEqual(self.verdict('link-errors'), doctor.OK)
        for port in self.d.facts['live_ports']:
            del port['counters']
        self.assertEqual(self.verdict('link-errors'), doctor.NOT_CHECKED)

    def test_supported(self):
        """A link is slow only if both of its ends support more; in dumps, they are not known."""
        self.sound()
        rated({'speed': 'FDR'})(self)
        link = next(x for x in self.d.fabric.links if x.speed == SPEEDS.index('FDR'))
        for end in (self.d.fabric.near(link), self.d.fabric.far(link)):
            end['extended_speeds'] = 1
            self.assertEqual(self.verdict('link-speed'), doctor.OK)
            end['extended_speeds'] = 2
            self.assertEqual(self.verdict('link-speed'), doctor.WARNING)
        host = self.d.facts['end_ports'][0]
        rated({'speed': 'EDR'})(self)
        host['width'] = 1
        self.d.fabric = Fabric(self.d.facts)
        self.assertEqual(self.verdict('link-width'), doctor.WARNING)
        self.d.facts['live_ports'] = []
        self.d.fabric = Fabric(self.d.facts)
        self.assertEqual(self.verdict('link-width'), doctor.OK)

    def test_known_faults(self):
        node = self.d.node
        node.kernel = '6.110.1'
        self.assertEqual(self.verdict('known-faults'), doctor.OK)
        node.virtual = 4
        self.assertEqual(self.verdict('known-faults'), doctor.WARNING)
        self.assertTrue(self.r.details[0][0].startswith('mlx5_0 has 4 virtual functions'))
        node.virtual = 0
        # the port has the prefix of opensm.conf, then another one
        self.d.conf = self.conf('subnet_prefix 0xfe80000000000006\n')
        node.found.prefix = 0xfe80000000000006
        self.assertEqual(self.verdict('known-faults'), doctor.OK)
        node.found.prefix = 0xfe80000000000000
        self.assertEqual(self.verdict('known-faults'), doctor.WARNING)
        self.assertIn('has 0xfe80000000000000', self.r.details[0][0])
        # before the port is Active, OpenSM has not set the prefix
        node.found.state = 2
        self.assertEqual(self.verdict('known-faults'), doctor.OK)

    def test_adaptive(self):
        """If switches do not answer, the check does not say that adaptive routing is off."""
        self.sound()
        self.d.facts['no_adaptive'] = 3
        self.assertEqual(self.verdict('adaptive'), doctor.NOT_CHECKED)
        self.d.facts['live_switches'][0]['adaptive'] = True
        self.assertEqual(self.verdict('adaptive'), doctor.WARNING)
        self.assertEqual(self.r.n, 1)

    def test_host_ports(self):
        """A host with ports on two leaves of four, each with one link to every spine.  The paths
        from the two other leaves are set to the same spine, or to different ones."""
        self.sound()
        hosts = self.d.facts['end_ports']
        a, b = hosts[0], hosts[-1]
        for i, host in enumerate((a, b)):
            self.edit(f'"{host["name"]}"', f'"host mlx5_{i}"')
        guid = [s['guid'] for s in self.d.facts['switches']]
        leaves = {e['switch'] for e in hosts} - {a['switch'], b['switch']}
        for same in (True, False):
            tables = Tables(self.path('f.lfts'))
            for leaf in leaves:
                up = [c['from_port'] if c['from'] == leaf else c['to_port']
                      for c in self.d.facts['cables'] if leaf in (c['from'], c['to'])]
                tables.set(guid[leaf], a['lid'], up[0])
                tables.set(guid[leaf], b['lid'], up[0 if same else 1])
            tables.write()
            self.read()
            self.assertEqual(self.verdict('host-ports'), doctor.OK)
            self.assertIn('several switches: 1; ' + (
                'from 100 %' if same else
                'the paths from a leaf to them cross no common switch'), self.r.text)
            self.assertEqual(', and to at most 2 of its 2 ports' in self.r.text, same)

    def test_silent_standby(self):
        """A subnet manager that does not answer does not count as a standby."""
        self.sound()
        del self.d.facts['sms'][1]['state']
        self.assertEqual(self.verdict('standby'), doctor.WARNING)
        self.verdict('sm')
        self.assertTrue(self.r.details[1][0].endswith(' does not answer'))

    def test_m_key(self):
        self.sound()
        self.d.facts['m_key'] = '0x1234'
        for given, verdict in ((0, doctor.WARNING), (0x1235, doctor.WARNING), (0x1234, doctor.OK)):
            self.d.options['m-key'] = given
            self.assertEqual(self.verdict('m-key'), verdict)
        del self.d.facts['m_key']
        self.assertEqual(self.verdict('m-key'), doctor.NOT_CHECKED)

    def test_best(self):
        """Fewer lost pairs, then a lower mean; the first of equal ones."""
        def best(*values):
            found = best_engine([{'name': i, 'host_host_not_arriving': lost,
                                         'load_shift_mean': mean}
                                        for i, (lost, mean) in enumerate(values)])
            return found and found['name']
        self.assertIsNone(best())
        self.assertEqual(best((1, 2), (0, 9), (0, 8), (0, 7.996)), 2)
        self.assertEqual(best((0, None), (0, 1)), 0)

    def test_details(self):
        """A check that finds many objects counts all; ten of them are printed."""
        self.sound()
        for port in self.d.facts['live_ports']:
            port['state'] = 2
        self.assertEqual(self.verdict('link-state'), doctor.WARNING)
        self.assertEqual(self.r.n, len(self.d.facts['cables']) + len(self.d.facts['end_ports']))
        self.use('superpod:H100:1')
        self.edit(' mlx5_4"', ' mlx5_X"')
        self.edit(' mlx5_9"', ' mlx5_4"')
        self.edit(' mlx5_X"', ' mlx5_9"')
        self.read()
        with open(os.devnull, 'w', encoding='ascii') as null:
            sys.stdout, kept = null, sys.stdout
            try:
                for name in ('link-state', 'rails'):
                    self.verdict(name)
                    doctor.put_result(self.r, False)
            finally:
                sys.stdout = kept


class Conf(Case):
    def test_values(self):
        conf = self.conf('# qos TRUE\nrouting_engine dmodc\n routing_engine\tsftree,updn \n\n'
                         'root_guid_file (null)\ncn_guid_file /a b\nuse_ucast_cache true\nqos 1\n'
                         'sweep_interval 0\nsubnet_prefix 0x10 text\n')
        self.assertEqual(conf.text['routing_engine'], 'sftree,updn')
        self.assertIsNone(conf.text['root_guid_file'])
        self.assertEqual(conf.text['cn_guid_file'], '/a b')
        self.assertEqual((conf.ucast_cache, conf.qos, conf.no_sweep, conf.prefix),
                         (True, True, True, 16))
        self.assertIsNone(doctor.node.Conf(self.path('none')).path)

    def test_no_file(self):
        name = self.path('none')
        done = subprocess.run([PROGRAM, '--local', '--only', 'config', '--conf', name],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn(f'FAILURE  config         {name}: No such file or directory\n', done.stdout)

    def test_numbers(self):
        for text, value in (('0', 0), ('12x', 12), ('010', 8), ('0x1F', 31), ('x', 0), ('', 0)):
            self.assertEqual(doctor.node.number(text), value, text)

    def test_versions(self):
        for data, version in ((b'OpenSM 3.3.23\0', '3.3.23'), (b'xOpenSM 1.2\0', '1.2'),
                              (b'OpenSM 3.3.23 x\0', None), (b'OpenSM \0', None), (b'', None)):
            self.assertEqual(doctor.common.file_version(self.file('f', data))[0], version, data)
        self.assertEqual(doctor.common.file_version(self.path('none')),
                         (None, 'No such file or directory'))


@unittest.skipUnless(os.path.exists(f'{BUILD}/node.so'), 'built without libibumad')
class Libraries(Case):
    """The program with libraries that report the faults of tests/doctor/node.c."""

    def setUp(self):
        super().setUp()
        for name in ('libibumad.so.3', 'libibverbs.so.1'):
            os.symlink(f'{BUILD}/node.so', self.path(name))

    def says(self, check, text, **faults):
        done = subprocess.run(
            [PROGRAM, '--only', check, '--conf', self.d.conf.path], capture_output=True, text=True,
            check=False, env={**os.environ, 'LD_LIBRARY_PATH': self.dir, **faults})
        self.assertTrue(done.stdout.startswith(f'{text}\n'), done.stdout + done.stderr)

    def test_node(self):
        port = 'mlx5_0 port 1: state={} link_layer={} rate=100 Gb/s lid=7 sm_lid=8'
        adapter = f'{"":24}mlx5_0: type=MT4123 firmware=20.1 ports=2'
        self.says('adapter', f'ok       adapter        1 adapter\n{adapter}')
        self.says('adapter', 'FAILURE  adapter        the kernel shows no InfiniBand adapter',
                  NODE_ADAPTERS='0')
        self.says('module', '-        module         not checked: there is no adapter',
                  NODE_ADAPTERS='0')
        self.says('module', 'FAILURE  module         cannot open a management port: No such file '
                  'or directory', NODE_OPEN_ERROR='2')
        self.says('module', 'ok       module         ib_umad is loaded', NODE_OPEN_ERROR='13')
        self.says('permission', 'FAILURE  permission     /dev/infiniband/umad*: Permission denied',
                  NODE_OPEN_ERROR='13')
        self.says('permission', 'ok       permission     management datagrams can be sent')
        self.says('port', 'ok       port           ' + port.format('Active', 'InfiniBand'))
        self.says('port', 'WARNING  port           ' + port.format('Armed', 'InfiniBand'),
                  NODE_STATE='3')
        self.says('port', 'FAILURE  port           ' + port.format('Active', 'Ethernet'),
                  NODE_LAYER='Ethernet')

    def test_prefix(self):
        self.conf('subnet_prefix 0xfe80000000000006\n')
        self.says('known-faults', 'ok       known-faults   no known fault of OpenSM or the kernel '
                  'concerns this node', NODE_PREFIX='0xfe80000000000006')
        self.says('known-faults', 'WARNING  known-faults   1 known fault of OpenSM or the kernel')

    def test_mtu(self):
        text = 'mtu            mlx5_0 port 1: MTU {} bytes, the adapter supports 4096 bytes'
        if 'ibv_query_port' not in subprocess.run(
                ['nm', '-D', f'{BUILD}/node.so'], capture_output=True, text=True,
                check=True).stdout:
            self.skipTest('built without libibverbs')
        self.says('mtu', 'ok       ' + text.format(4096))
        self.says('mtu', 'WARNING  ' + text.format(2048), NODE_MTU='4')


if __name__ == '__main__':
    unittest.main(verbosity=1)
