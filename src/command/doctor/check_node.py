# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Checks of this node, which node.py reads."""
import json
import os
import subprocess

import common
import node
from fabric import PORT_STATES
from results import FAILURE, NOT_CHECKED, OK, WARNING, s

# The engines of the plugin, and those that use a second VL.
ENGINES, SECOND_VL = ('dmodc', 'sftree', 'ddlr'), ('ddlr',)


def adapter(d, r):
    adapters = d.node.adapters()
    if not adapters:
        r.say(FAILURE, 'the kernel shows no InfiniBand adapter',
              'check "lspci" and load the adapter\'s module (mlx5_ib, for instance); on a node '
              'without an adapter, give dumps: ibfattree doctor FABRIC --lfts FILE')
        return
    for name, kind, firmware, ports in adapters:
        r.add(f'{name}: type={kind} firmware={firmware} ports={ports}')
    ca, text = d.options['ca'], f'{r.n} adapter{s(r.n)}'
    if ca in (None, *(adapter[0] for adapter in adapters)):
        r.say(OK, text)
    else:
        r.say(FAILURE, f'{text}, none of them {ca}',
              'give the name of one of the listed adapters with --ca')


def no_adapter(d, r):
    """Whether this node has no adapter; the verdict is then "not checked"."""
    if d.node.adapters():
        return False
    r.say(NOT_CHECKED, 'there is no adapter')
    return True


def denied(error):
    return isinstance(OSError(error, ''), PermissionError)


def module(d, r):
    if no_adapter(d, r):
        return
    error = d.node.open_error()
    if not error or denied(error):
        r.say(OK, 'ib_umad is loaded')
    else:
        r.say(FAILURE, f'cannot open a management port: {os.strerror(error)}',
              'run "modprobe ib_umad"; if that does not help, see check "port"')


def permission(d, r):
    if no_adapter(d, r):
        return
    error = d.node.open_error()
    if not error:
        r.say(OK, 'management datagrams can be sent')
    elif denied(error):
        r.say(FAILURE, f'/dev/infiniband/umad*: {os.strerror(error)}',
              'run as root, or give the user read and write access to /dev/infiniband/umad*')
    else:
        r.say(NOT_CHECKED, f'no management port can be opened: {os.strerror(error)}')


def port(d, r):
    if no_adapter(d, r):
        return
    p = d.node.port()
    if not p:
        r.say(FAILURE, f'no usable port: {d.options["ca"] or "(any adapter)"}:{d.options["port"]}',
              'see "adapter"; choose a port with --ca and --port')
        return
    state = PORT_STATES[p.state] if p.state < len(PORT_STATES) else 'unknown'
    text = (f'{p.adapter} port {p.portnum}: state={state} link_layer={p.link_layer} '
            f'rate={p.rate} Gb/s lid={p.base_lid} sm_lid={p.sm_lid}')
    if p.link_layer == 'Ethernet':
        r.say(FAILURE, text, 'choose an InfiniBand port with --ca and --port')
    elif state in ('Initialize', 'Armed'):
        r.say(WARNING, text, 'no subnet manager has activated the port: start opensm, or find out '
              'why it does not reach this node')
    elif state != 'Active':
        r.say(FAILURE, text, 'the port has no link: check the cable and the far end')
    else:
        r.say(OK, text)


def mtu(d, r):
    port = d.node.port()
    mtu = d.node.mtu(port)
    if isinstance(mtu, str):
        r.say(NOT_CHECKED, mtu)
        return
    text = (f'{port.adapter} port {port.portnum}: MTU {mtu[0]} bytes, the adapter supports '
            f'{mtu[1]} bytes')
    if mtu[0] < mtu[1]:
        r.say(WARNING, text, 'set mtu=5 (4096 bytes) for the partition in partitions.conf if all '
              'switches support it')
    else:
        r.say(OK, text)


def plugin(d, r):
    opensm = d.options['opensm'] or common.find_opensm()
    plugin = d.options['plugin'] or node.find_plugin(d.directory)
    if not opensm:
        # the only verdict "not checked" with a remedy
        r.say(NOT_CHECKED, 'opensm is not installed on this node',
              'run ibfattree doctor on the node of the subnet manager, or give the path of opensm '
              'with --opensm')
        return
    if not plugin:
        r.say(FAILURE, 'libibfattree.so is not installed; opensm cannot load it',
              'install the package opensm-plugin-ibfattree')
        return
    a, error = common.file_version(opensm)
    if error:
        r.say(NOT_CHECKED, f'{opensm}: {error}')
        return
    b, error = common.file_version(plugin)
    if error:
        r.say(FAILURE, f'{plugin}: {error}', 'install the package opensm-plugin-ibfattree again')
        return
    r.add(f'{opensm}: OpenSM {a}')
    r.add(f'{plugin}: for OpenSM {b}')
    if a == b:
        r.say(OK, f'opensm is OpenSM {a}, and the plugin is built for it (the plugin also compares '
              'data structures when it is loaded)')
    else:
        r.say(FAILURE, f'opensm is OpenSM {a}, the plugin is built for OpenSM {b}; opensm does not '
              'load the plugin',
              f'install the package opensm-plugin-ibfattree that is built for OpenSM {a}')


def our_engine(names, engines=ENGINES):
    """The first engine of ibfattree that is in the list, or None."""
    return next((engine for engine in engines if node.has_word(names, engine)), None)


def config(d, r):
    c = d.conf
    if not c.path:
        if d.options['conf']:
            r.say(FAILURE, f'{d.options["conf"]}: {c.error}', 'give the path of opensm.conf with --conf')
        else:
            r.say(NOT_CHECKED, 'opensm.conf is not in /etc/opensm or /etc/rdma, or cannot be read; opensm '
                  'uses its defaults')
        return
    plugins, engines = c.text['event_plugin_name'], c.text['routing_engine']
    plugin, engine = node.has_word(plugins, 'ibfattree'), our_engine(engines) is not None
    second = our_engine(engines, SECOND_VL)
    if plugin != engine:
        r.add('the plugin is loaded, but routing_engine names none of its engines' if plugin else
              'routing_engine names an engine of the plugin, but event_plugin_name does not load '
              'the plugin')
    if engine and c.ucast_cache:
        r.add('use_ucast_cache TRUE: OpenSM may keep old tables after changes at leaf switches')
    if engine and c.no_sweep:
        r.add('sweep_interval 0: a change is never noticed if its trap is lost')
    if second and not c.qos:
        r.add(f'routing_engine {second} without "qos TRUE": repairs use one VL only')
    r.say(OK if not r.n else FAILURE if plugin != engine else WARNING,
          f'{c.path}: event_plugin_name={plugins or "(none)"} '
          f'routing_engine={engines or "(default)"}',
          f'change {c.path}, see the recommended lines below' if r.n else '')


def known_faults(d, r):
    # opensm 3.3.23 cannot register with the kernel's ib_umad (linux-rdma/opensm, issue 37)
    if d.node.kernel.startswith('6.11.'):
        r.add(f'kernel {d.node.kernel}: opensm does not start on kernels 6.11; use another one')
    # with mlx5 adapters, newer kernels ignore the prefix that OpenSM sets (issue 36)
    p = d.node.port() if d.conf.prefix else None
    if p and p.state == PORT_STATES.index('Active') and p.prefix != d.conf.prefix:
        r.add(f'{d.conf.path}: subnet_prefix 0x{d.conf.prefix:016x}, but port {p.portnum} of '
              f'{p.adapter} has 0x{p.prefix:016x}: with mlx5 adapters, kernels from 6.1 on ignore '
              'it')
    # OpenSM does not know the virtual ports of ConnectX-4 and later (issue 22)
    for adapter in d.node.adapters():
        n = d.node.virtual_functions(adapter[0])
        if n and adapter[0].startswith('mlx5'):
            r.add(f'{adapter[0]} has {n} virtual function{s(n)}: their ports stay down, because '
                  'OpenSM supports SR-IOV only up to ConnectX-3')
    if not r.n:
        r.say(OK, 'no known fault of OpenSM or the kernel concerns this node')
        return
    r.say(WARNING, f'{r.n} known fault{s(r.n)} of OpenSM or the kernel',
          'for the kernel: boot another one; for subnet_prefix: keep the default; for virtual '
          'functions: use none, or the subnet manager of NVIDIA')


def drains(d, r):
    conf = [f'--conf={d.conf.path}'] if d.conf.path else []
    done = subprocess.run([d.command, 'drains', '--json', *conf], capture_output=True, check=False)
    if done.returncode not in (0, 1):
        message = done.stderr.decode('utf-8', 'surrogateescape').strip()
        r.say(FAILURE, message.removeprefix('ibfattree: '),
              'correct or remove the file; "ibfattree drain" and "undrain" write it')
        return
    for part in json.loads(done.stdout)['parts']:
        r.add(common.drained(part))
    r.say(WARNING if r.n else OK, common.counted(r.n, 'drained part', 'drained parts'),
          'after the maintenance: ibfattree undrain PART' if r.n else '')
