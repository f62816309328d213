# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What ibfattree-doctor reads on this node: adapters and ports, as libibumad and libibverbs report
them, the versions of opensm and the plugin, and opensm.conf.

The versions are read from the files, without running them.  OpenSM compares the same two strings
when it loads a plugin.  Even with equal versions, opensm and the plugin may have been compiled with
different data structures.  Only the plugin checks this, inside opensm.  If the structures differ,
it refuses to load (IBF220).
"""
import ctypes
import os
import platform
import re

import common

NAME_MAX = 20           # UMAD_CA_NAME_LEN
ADAPTERS_MAX = 32
PLUGIN = 'libibfattree.so'


class UmadPort(ctypes.Structure):
    """umad_port_t"""
    _fields_ = [('ca_name', ctypes.c_char * NAME_MAX), ('portnum', ctypes.c_int),
                ('base_lid', ctypes.c_uint), ('lmc', ctypes.c_uint), ('sm_lid', ctypes.c_uint),
                ('sm_sl', ctypes.c_uint), ('state', ctypes.c_uint), ('phys_state', ctypes.c_uint),
                ('rate', ctypes.c_uint), ('capmask', ctypes.c_uint32),
                ('gid_prefix', ctypes.c_uint8 * 8), ('port_guid', ctypes.c_uint8 * 8),
                ('pkeys_size', ctypes.c_uint), ('pkeys', ctypes.c_void_p),
                ('link_layer', ctypes.c_char * NAME_MAX)]


class UmadAdapter(ctypes.Structure):
    """umad_ca_t"""
    _fields_ = [('ca_name', ctypes.c_char * NAME_MAX), ('node_type', ctypes.c_uint),
                ('numports', ctypes.c_int), ('fw_ver', ctypes.c_char * 20),
                ('ca_type', ctypes.c_char * 40), ('hw_ver', ctypes.c_char * 20),
                ('node_guid', ctypes.c_uint64), ('system_guid', ctypes.c_uint64),
                ('ports', ctypes.c_void_p * 10)]


class PortAttributes(ctypes.Structure):
    """The beginning of struct ibv_port_attr."""
    _fields_ = [('state', ctypes.c_int), ('max_mtu', ctypes.c_int), ('active_mtu', ctypes.c_int),
                ('rest', ctypes.c_uint8 * 256)]


def library(name):
    """A library, or None: it is not installed."""
    try:
        return ctypes.CDLL(name, use_errno=True)
    except OSError:
        return None


class Port:
    """A local port."""

    def __init__(self, port):
        for name in ('portnum', 'base_lid', 'sm_lid', 'state', 'rate'):
            setattr(self, name, getattr(port, name))
        self.adapter, self.link_layer = port.ca_name.decode(), port.link_layer.decode()
        self.prefix = int.from_bytes(bytes(port.gid_prefix), 'big')


class Node:
    """ca, number: the port that the user has chosen; None, 0: the first that is up."""

    def __init__(self, ca, number):
        self.ca, self.number = os.fsencode(ca) if ca else None, number
        self.umad, self.verbs = library('libibumad.so.3'), library('libibverbs.so.1')
        self.kernel, self.sysfs = os.uname().release, '/sys/class/infiniband'

    def adapters(self):
        """Name, type, firmware and number of ports of each adapter that can be queried.  (Without
        any adapter, libibumad may return a made-up name.)"""
        names = (ctypes.c_char * NAME_MAX * ADAPTERS_MAX)()
        found = []
        for i in range(self.umad.umad_get_cas_names(names, ADAPTERS_MAX)):
            adapter = UmadAdapter()
            if self.umad.umad_get_ca(names[i].value, ctypes.byref(adapter)) < 0:
                continue
            found.append((names[i].value.decode(), adapter.ca_type.decode(),
                          adapter.fw_ver.decode(), adapter.numports))
            self.umad.umad_release_ca(ctypes.byref(adapter))
        return found

    def port(self):
        port = UmadPort()
        if self.umad.umad_get_port(self.ca, self.number, ctypes.byref(port)) < 0:
            return None
        found = Port(port)
        self.umad.umad_release_port(ctypes.byref(port))
        return found

    def open_error(self):
        """Opens the port in the same way as the commands that read the fabric.  0, or the error."""
        ctypes.set_errno(0)
        handle = self.umad.umad_open_port(self.ca, self.number)
        if handle < 0:
            return ctypes.get_errno() or -handle
        self.umad.umad_close_port(handle)
        return 0

    def virtual_functions(self, adapter):
        """The number of virtual functions that are in use."""
        try:
            with open(f'{self.sysfs}/{adapter}/device/sriov_numvfs', encoding='ascii') as file:
                return int(file.read())
        except (OSError, ValueError):
            return 0

    def mtu(self, port):
        """The MTU in use and the greatest one, in bytes, or the reason why they are not known."""
        v = self.verbs
        v.ibv_get_device_list.restype = ctypes.POINTER(ctypes.c_void_p)
        v.ibv_get_device_name.restype = ctypes.c_char_p
        v.ibv_get_device_name.argtypes = v.ibv_open_device.argtypes = [ctypes.c_void_p]
        v.ibv_open_device.restype = ctypes.c_void_p
        v.ibv_close_device.argtypes = [ctypes.c_void_p]
        v.ibv_query_port.argtypes = [ctypes.c_void_p, ctypes.c_uint8, ctypes.c_void_p]
        n = ctypes.c_int(0)
        devices = v.ibv_get_device_list(ctypes.byref(n))
        if not devices or not n.value or not port:
            return 'libibverbs shows no device (is ib_uverbs loaded?)'
        try:
            device = next((devices[i] for i in range(n.value)
                           if v.ibv_get_device_name(devices[i]).decode() == port.adapter), None)
            context = v.ibv_open_device(device) if device else None
            if not context:
                return f'libibverbs cannot open {port.adapter}'
            found = PortAttributes()
            error = v.ibv_query_port(context, port.portnum, ctypes.byref(found))
            v.ibv_close_device(context)
        finally:
            v.ibv_free_device_list(devices)
        if error:
            return f'libibverbs cannot query {port.adapter} port {port.portnum}'
        return 128 << found.active_mtu, 128 << found.max_mtu


# ---- files --------------------------------------------------------------------------------------

def find_plugin(program):
    """Approximates the search path of the dynamic linker.  program: the directory of programs
    beside which the plugin may be installed."""
    multiarch = f'{platform.machine()}-linux-gnu'
    beside = [os.path.normpath(os.path.join(program, '..', lib))
              for lib in ('lib', 'lib64', f'lib/{multiarch}')]
    given = os.environ.get('LD_LIBRARY_PATH', '').split(':')
    return common.find_file([*given, *beside, '/usr/local/lib', '/usr/lib64', '/usr/lib',
                             f'/usr/lib/{multiarch}'], PLUGIN)


# ---- opensm.conf --------------------------------------------------------------------------------

def is_true(value):
    return value.upper() == 'TRUE' or value == '1'


def has_word(text, word):
    return word in re.split('[, \t]', text or '')


def number(value):
    """The number at the beginning, as strtoull() reads it."""
    found = re.match(r'(0[xX][0-9a-fA-F]+)|0([0-7]*)|([1-9][0-9]*)', value)
    if not found:
        return 0
    return int(found[1], 16) if found[1] else int(found[2] or '0', 8) if found[3] is None else \
        int(found[3])


class Conf:
    """Values from opensm.conf.  path: None: no file was found, or it cannot be read (error)."""

    def __init__(self, path):
        self.path = self.error = None
        self.text = dict.fromkeys(('event_plugin_name', 'routing_engine', 'root_guid_file',
                                   'cn_guid_file', 'io_guid_file'))
        try:
            self.path, values = common.read_conf(path)
        except OSError as failure:
            values, self.error = {}, failure.strerror
        self.text.update((key, values[key]) for key in self.text if key in values)
        self.ucast_cache = is_true(values.get('use_ucast_cache', ''))
        self.qos = is_true(values.get('qos', ''))
        self.prefix = number(values.get('subnet_prefix', ''))      # 0: the default
        self.no_sweep = values.get('sweep_interval') == '0'
